/**
 * Runs a controller for each workload kind that the administrator's allowlist has in addition to StatefulSets, as the
 * list changes.
 */
import { configMap } from '@kruise/api/core/configmap';
import { type ControllerContext, type Runnable, runController, watch, whenSynced } from '@kruise/client/controller';
import { type Discovery, discover } from '@kruise/client/discovery';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { groupOf, resourceOf } from '@kruise/schema/kind';
import { after } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import { ParseError } from '@kruise/values/parse-error';
import { configurationIn, type KindName } from '../configuration/kruise-configuration.ts';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { readAllowlistFrom } from './allowlist.ts';
import { controllerOver } from './controller.ts';
import { customKind } from './workloads.ts';

/** Interval of discovery for listed kinds that are not served: there is no notification when they are. */
const retryMs = 30_000;

type Running = { readonly kind: DynamicKind; readonly stop: AbortController; readonly stopped: Promise<void> };

export function listedWorkloadsRunner(settings: ManagerSettings): Runnable {
  const { name, component } = workSettings(settings, 'persistentpodstate-listed');
  const selection = configurationIn(settings.namespace);
  const runner: Runnable = {
    name,
    component,
    watches: [watch(configMap, () => [], { selection })],
    uses: [],
    async run(context, signal) {
      const { caches, clock } = context;
      await whenSynced(runner, caches, signal);
      const running = new Map<string, Running>();
      let { promise: changed, resolve: change } = Promise.withResolvers<void>();
      caches.informer(configMap, selection).handle(() => change(), { signal });
      signal.addEventListener('abort', () => change(), { once: true });
      while (!signal.aborted) {
        ({ promise: changed, resolve: change } = Promise.withResolvers<void>());
        const listed = readAllowlist(context, settings.namespace);
        const kinds = listed && (await findServedKinds(listed, context, signal));
        // If the list or the discovery is invalid, the previous controllers keep running.
        if (kinds) syncControllers(kinds, running, settings, context, signal);
        const waited = linkedController(signal);
        const isIncomplete = listed && kinds?.length !== listed.length;
        const retries = isIncomplete ? [after(clock, retryMs, waited.signal).catch(() => {})] : [];
        await Promise.race([changed, ...retries]);
        waited.abort();
      }
      await Promise.all([...running.values()].map(({ stopped }) => stopped));
    },
  };
  return runner;
}

function readAllowlist({ caches, log }: ControllerContext, namespace: string): readonly KindName[] | undefined {
  try {
    return readAllowlistFrom(caches, namespace);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    log.warn({ error }, 'failed to parse the workload allowlist');
    return undefined;
  }
}

/**
 * Returns the listed kinds that the API server serves, in the listed version if possible; undefined if discovery fails.
 */
async function findServedKinds(
  listed: readonly KindName[],
  { client, log }: ControllerContext,
  signal: AbortSignal,
): Promise<readonly DynamicKind[] | undefined> {
  if (listed.length === 0) return [];
  let served: Discovery;
  try {
    served = await discover(client, { signal });
  } catch (error) {
    if (!signal.aborted) log.warn({ error }, 'API discovery failed');
    return undefined;
  }
  const failedGroups = new Set(served.failures.map(({ groupVersion }) => groupOf(groupVersion)));
  if (listed.some(({ group }) => failedGroups.has(group))) return undefined;
  return listed.flatMap(({ group, version, kind }) => {
    const versions = served.kinds.filter((each) => each.group === group && each.kind === kind);
    const found = versions.find((each) => each.version === version) ?? versions[0];
    if (!found) log.warn({ group, kind }, 'listed workload kind is not served');
    return found ?? [];
  });
}

/** Starts controllers of new kinds, and stops controllers of removed kinds. */
function syncControllers(
  kinds: readonly DynamicKind[],
  running: Map<string, Running>,
  settings: ManagerSettings,
  context: ControllerContext,
  signal: AbortSignal,
): void {
  const idOf = (kind: DynamicKind) => `${resourceOf(kind)} ${kind.version}`;
  const wanted = new Set(kinds.map(idOf));
  for (const [id, { kind, stop, stopped }] of running) {
    if (wanted.has(id)) continue;
    stop.abort();
    void stopped.then(() => context.caches.forget(kind));
    running.delete(id);
  }
  for (const kind of kinds) {
    const id = idOf(kind);
    if (running.has(id) || signal.aborted) continue;
    const stop = linkedController(signal);
    const work = workSettings(settings, 'persistentpodstate');
    const controller = controllerOver([customKind(kind)], { ...work, name: `${work.name} ${resourceOf(kind)}` });
    running.set(id, { kind, stop, stopped: runController(controller, context, stop.signal) });
  }
}
