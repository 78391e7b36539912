import { createCustomApiServices } from '../bootstrap/api-services.ts';
import type { Core } from '../core.ts';

type GroupVersion = { readonly group: string; readonly version: string };

/**
 * Keeps the APIService of each group version in step with what is served there. Definitions often come and go many at
 * a time: however many changes there are while one is dealt with, they are dealt with as one.
 */
export function createAnnouncer(core: Core, onError: (error: unknown) => void): (groupVersion: GroupVersion) => void {
  const apiServices = createCustomApiServices(core);
  const states = new Map<string, 'busy' | 'again'>();

  async function announce(id: string, groupVersion: GroupVersion): Promise<void> {
    do {
      states.set(id, 'busy');
      await apiServices.sync(groupVersion);
      // The next look must see what this one did.
      await core.feed.caughtUp();
    } while (states.get(id) === 'again');
  }

  return (groupVersion) => {
    const id = `${groupVersion.group}/${groupVersion.version}`;
    if (states.has(id)) {
      states.set(id, 'again');
      return;
    }
    announce(id, groupVersion)
      .catch((error) => {
        if (!core.signal.aborted) onError(error);
      })
      .finally(() => states.delete(id));
  };
}
