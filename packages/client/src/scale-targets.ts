/**
 * Workloads of any kind, by the reference others have of them: those that scale them, or count on their size, know no
 * more of a kind than its name.
 */
import type { Scale } from '@kruise/api/autoscaling/scale';
import { isNotFound } from '@kruise/machinery/status';
import { apiVersionOf, groupOf, resourceOf } from '@kruise/schema/kind';
import type { Client } from './client.ts';
import { discover } from './discovery.ts';
import type { DynamicKind } from './dynamic-kind.ts';
import { getScale } from './subresources.ts';

/** A workload as others refer to it. */
export type TargetReference = { readonly apiVersion: string; readonly kind: string; readonly name: string };

/** Finds kinds by name, and remembers them. */
export type ScaleTargets = {
  /** The kind of a workload; undefined if the server knows none of the name. */
  kindOf(client: Client, target: Omit<TargetReference, 'name'>, signal?: AbortSignal): Promise<DynamicKind | undefined>;
  /** The size of a workload; undefined if there is none of the name. */
  scaleOf(client: Client, target: TargetReference, namespace: string, signal?: AbortSignal): Promise<Scale | undefined>;
};

/** The server knows no kind of a name, or none that has a size. */
export class NoScaleError extends Error {
  override readonly name = 'NoScaleError';
}

/**
 * Knows no kind yet.
 *
 * ```ts
 * const targets = createScaleTargets();
 * const scale = await targets.scaleOf(client, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, 'default');
 * ```
 */
export function createScaleTargets(): ScaleTargets {
  const known = new Map<string, DynamicKind>();

  async function kindOf(client: Client, { apiVersion, kind }: Omit<TargetReference, 'name'>, signal?: AbortSignal) {
    const id = `${apiVersion} ${kind}`;
    const found = known.get(id);
    if (found) return found;
    const { kinds } = await discover(client, signal ? { signal } : {});
    const named = kinds.filter((each) => each.kind === kind && each.group === groupOf(apiVersion));
    // Whichever version a reference names, the object is the same; the server prefers the first.
    const served = named.find((each) => apiVersionOf(each) === apiVersion) ?? named[0];
    if (served) known.set(id, served);
    return served;
  }

  return {
    kindOf,
    async scaleOf(client, target, namespace, signal) {
      const kind = await kindOf(client, target, signal);
      if (!kind) throw new NoScaleError(`no matches for kind "${target.kind}" in version "${target.apiVersion}"`);
      try {
        return await getScale(client, kind, { namespace, name: target.name }, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        if (kind.subresources.includes('scale')) return undefined;
        throw new NoScaleError(`${resourceOf(kind)} does not implement the scale subresource`);
      }
    },
  };
}
