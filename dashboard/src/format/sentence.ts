/** Formats a message of the API as a sentence: capital letter, quotation marks for backticks, full stop. */
export function sentence(message: string): string {
  const quoted = message.replace(/`([^`]*)`/g, '“$1”');
  const begun = quoted.charAt(0).toLocaleUpperCase() + quoted.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
