import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first of these names that is a program on the `PATH`. */
export function findProgram(names: string[]): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => directories.map((directory) => join(directory, name))).find(isProgram);
}
