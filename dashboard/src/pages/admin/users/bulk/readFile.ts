import { texts } from '../../../../texts';

/** The text of a file. Fails if it is not in UTF-8, in which names would be read wrongly. */
export async function readFile(file: Blob): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(texts.adminBulk.notUtf8);
  }
}
