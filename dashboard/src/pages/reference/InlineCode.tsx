import { Code } from '@mantine/core';
import { codeParts } from './codeParts';

/** A text of the document, with its code between backticks. */
export function InlineCode({ children }: { children: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change their order
  return codeParts(children).map(({ code, text }, index) => (code ? <Code key={index}>{text}</Code> : text));
}
