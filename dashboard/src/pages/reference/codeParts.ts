interface Part {
  code: boolean;
  text: string;
}

/** Splits a text at its backticks. Links of Rust's documentation, such as [`Failure`], are code too. */
export function codeParts(text: string): Part[] {
  return text
    .replaceAll(/\[(`[^`]+`)\]/g, '$1')
    .split('`')
    .map((part, index) => ({ code: index % 2 === 1, text: part }))
    .filter((part) => part.text !== '');
}
