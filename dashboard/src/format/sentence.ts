/** The server's messages begin in lower case and end without a stop; people read sentences. */
export function sentence(message: string): string {
  const begun = message.charAt(0).toLocaleUpperCase() + message.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
