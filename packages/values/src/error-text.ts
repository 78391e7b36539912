/** What went wrong, in words: the message of an error, and of anything else that was thrown its text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
