/** How bad it is. */
export type Level = 'debug' | 'info' | 'warn' | 'error';

/** Writes a line. It never has a key or a credential. */
export type Log = (level: Level, message: string) => void;

/** Warnings and errors, on the console. */
export const consoleLog: Log = (level, message) => {
  if (level === 'warn' || level === 'error') console[level](`keymeter: ${message}`);
};
