/** Lets the browser save a file that the page has made. */
export function saveFile(name: string, content: Blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href));
}
