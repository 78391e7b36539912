import { createCustomApiServices } from '../bootstrap/api-services.ts';
import type { Core } from '../core.ts';

type GroupVersion = { readonly group: string; readonly version: string };

/**
 * Keeps the APIService of each group version in sync with the served custom resources. Definitions often change many at
 * a time, so changes during a sync are coalesced into one.
 */
export function createApiServiceSync(
  core: Core,
  onError: (error: unknown) => void,
): (groupVersion: GroupVersion) => void {
  const apiServices = createCustomApiServices(core);
  const states = new Map<string, 'busy' | 'again'>();

  async function syncApiService(id: string, groupVersion: GroupVersion): Promise<void> {
    do {
      states.set(id, 'busy');
      await apiServices.sync(groupVersion);
      // The next sync must see the writes of this one.
      await core.feed.waitForCurrent();
    } while (states.get(id) === 'again');
  }

  return (groupVersion) => {
    const id = `${groupVersion.group}/${groupVersion.version}`;
    if (states.has(id)) {
      states.set(id, 'again');
      return;
    }
    syncApiService(id, groupVersion)
      .catch((error) => {
        if (!core.signal.aborted) onError(error);
      })
      .finally(() => states.delete(id));
  };
}
