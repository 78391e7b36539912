/** When to look again, of all the times that parts of a decision ask for: the soonest. None where nobody asks. */
export function earliestRequeue(...seconds: readonly (number | undefined)[]): {
  readonly requeueAfterSeconds?: number;
} {
  const asked = seconds.filter((each) => each !== undefined && each > 0) as number[];
  return asked.length > 0 ? { requeueAfterSeconds: Math.min(...asked) } : {};
}
