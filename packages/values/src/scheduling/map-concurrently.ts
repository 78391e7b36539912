/**
 * Maps items with a concurrency limit; the results are in the order of the items. After a failure no further item is
 * started, and the error is thrown when the items in progress have ended.
 *
 * ```ts
 * await mapConcurrently(pods, 20, ({ metadata }) => client.delete(pod, { name: '', ...metadata }));
 * ```
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length);
  const failures: unknown[] = [];
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await work(items[index]!, index);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
  if (failures.length > 0) throw failures[0];
  return results;
}
