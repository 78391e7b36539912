/**
 * Scale targets: workloads of any kind that implement the scale subresource, found by a reference as
 * HorizontalPodAutoscalers have it.
 */
import type { Scale } from '@kruise/api/autoscaling/scale';
import { isNotFound } from '@kruise/machinery/status';
import { apiVersionOf, groupOf, resourceOf } from '@kruise/schema/kind';
import type { Client } from '../api/client.ts';
import { discover } from '../api/discovery.ts';
import type { DynamicKind } from '../api/dynamic-kind.ts';
import { getScale } from '../api/subresources.ts';

/** Reference to a workload. */
export type TargetReference = { readonly apiVersion: string; readonly kind: string; readonly name: string };

/** Resolves scale targets; caches the discovered kinds. */
export type ScaleTargets = {
  /** Returns the kind of a workload; undefined if the server does not serve it. */
  kindOf(client: Client, target: Omit<TargetReference, 'name'>, signal?: AbortSignal): Promise<DynamicKind | undefined>;
  /** Returns the Scale of a workload; undefined if the workload does not exist. */
  scaleOf(client: Client, target: TargetReference, namespace: string, signal?: AbortSignal): Promise<Scale | undefined>;
};

/** The kind is not served, or has no scale subresource. */
export class NoScaleError extends Error {
  override readonly name = 'NoScaleError';
}

/**
 * Creates a resolver with an empty cache.
 *
 * ```ts
 * const targets = createScaleTargets();
 * const scale = await targets.scaleOf(client, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, 'default');
 * ```
 */
export function createScaleTargets(): ScaleTargets {
  const cached = new Map<string, DynamicKind>();

  async function kindOf(client: Client, { apiVersion, kind }: Omit<TargetReference, 'name'>, signal?: AbortSignal) {
    const id = `${apiVersion} ${kind}`;
    const found = cached.get(id);
    if (found) return found;
    const { kinds } = await discover(client, signal ? { signal } : {});
    const candidates = kinds.filter((each) => each.kind === kind && each.group === groupOf(apiVersion));
    // All versions of a kind refer to the same object; the version that the server prefers comes first.
    const served = candidates.find((each) => apiVersionOf(each) === apiVersion) ?? candidates[0];
    if (served) cached.set(id, served);
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
