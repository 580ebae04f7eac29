/** The server's messages begin in lower case, quote as in code and end without a stop; people read sentences. */
export function sentence(message: string): string {
  const quoted = message.replace(/`([^`]*)`/g, '“$1”');
  const begun = quoted.charAt(0).toLocaleUpperCase() + quoted.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
