/** Returns the earliest requeue of those that parts of a decision ask for; nothing if no part asks for one. */
export function earliestRequeue(...seconds: readonly (number | undefined)[]): {
  readonly requeueAfterSeconds?: number;
} {
  const asked = seconds.filter((each) => each !== undefined && each > 0) as number[];
  return asked.length > 0 ? { requeueAfterSeconds: Math.min(...asked) } : {};
}
