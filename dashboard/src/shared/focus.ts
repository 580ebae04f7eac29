/** After this time a closed Mantine dialog has returned the focus. Mantine waits 10 ms, also with reduced motion. */
export const FOCUS_RETURN_MS = 20;
