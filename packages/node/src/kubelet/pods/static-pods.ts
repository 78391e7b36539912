/**
 * Static Pods, which come from manifest files on the node. The kubelet creates a mirror Pod in the API for each of
 * them; deleting the mirror Pod does not stop the static Pod.
 */
import { createHash } from 'node:crypto';
import type { Node } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { defaultPod } from '@kruise/api/core/pod.default';
import type { Client } from '@kruise/client/client';
import type { Change } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { isAlreadyExists, isNotFound } from '@kruise/machinery/status';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { parseYaml } from '@kruise/schema/yaml-text';
import { type Clock, every } from '@kruise/values/clock';
import { formatTime, type Instant } from '@kruise/values/time';
import type { HostFiles } from '../../cri/runtime.ts';
import { hashAnnotation, mirrorAnnotation, seenAnnotation, sourceAnnotation } from '../admission/critical.ts';
import { referencesOf } from '../volumes/volume-content.ts';
import type { PodWorker } from './pod-worker.ts';
import type { StatusUpdate, StatusWriter } from './status-writer.ts';

/** Dependencies of static Pods. */
export type StaticPodContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: HostFiles;
  /** Directory of the manifests. */
  readonly path: string;
  readonly nodeName: string;
  readonly node: () => Node | undefined;
  readonly statuses: StatusWriter;
  /** Starts a pod worker. */
  readonly addPod: (pod: Pod, statuses: StatusWriter) => PodWorker;
};

/** Static Pods of a node. */
export type StaticPods = {
  /** Handles a change of a mirror Pod in the API. */
  mirrorChanged(change: Change<Pod>): void;
  /** Resolves when the manifests have been read once. */
  readonly read: Promise<void>;
};

type Entry = {
  readonly pod: Pod;
  readonly worker: PodWorker;
  mirror: Pod | undefined;
  /** Outdated mirror Pod with the same name. */
  stale: Pod | undefined;
  report: StatusUpdate | undefined;
  isBusy: boolean;
};

const checkMs = 20_000;

/** Runs the static Pods of a directory until the signal is aborted. */
export function startStaticPods(context: StaticPodContext, signal: AbortSignal): StaticPods {
  const { client, clock, log, files, path, nodeName, statuses } = context;
  const entries = new Map<string, Entry>();
  /** Names of static Pods that are terminating. */
  const terminating = new Set<string>();
  const keyOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`;

  /** Status updates of a static Pod go to its mirror Pod. */
  const mirrorStatusWriter = (key: string): StatusWriter => ({
    ...statuses,
    report(_pod, report) {
      const entry = entries.get(key);
      if (!entry) return;
      entry.report = report;
      if (entry.mirror) statuses.report(entry.mirror, { ...report, isFinished: false });
    },
    observe() {},
    remove() {},
  });

  async function check(): Promise<void> {
    const found = new Map<string, Pod>();
    for (const pod of await read()) found.set(keyOf(pod), pod);
    for (const [key, { pod, worker, mirror }] of entries) {
      if (found.get(key)?.metadata.uid === pod.metadata.uid) continue;
      entries.delete(key);
      terminating.add(key);
      worker.remove();
      // A new static Pod of the same name starts only after the old one is completely removed.
      const next = found.get(key);
      void worker.gone.then(() => {
        terminating.delete(key);
        if (next) addPod(key, next, mirror);
      });
      if (!next) await removeMirror(key);
    }
    for (const [key, pod] of found) if (!entries.has(key) && !terminating.has(key)) addPod(key, pod);
  }

  function addPod(key: string, pod: Pod, stale?: Pod): void {
    if (entries.has(key) || signal.aborted) return;
    const worker = context.addPod(pod, mirrorStatusWriter(key));
    const entry: Entry = { pod, worker, mirror: undefined, stale, report: undefined, isBusy: false };
    entries.set(key, entry);
    void createMirror(entry);
  }

  async function read(): Promise<readonly Pod[]> {
    const names = (await files.stat(path)) ? await files.list(path) : [];
    const pods: Pod[] = [];
    for (const name of names) {
      if (name.startsWith('.')) continue;
      try {
        const text = Buffer.from(await files.readFile(`${path}/${name}`, { followsLinks: true })).toString();
        pods.push(staticPodOf(parseYaml(text), { nodeName, file: `${path}/${name}`, now: clock.now() }));
      } catch (error) {
        log.warn({ file: `${path}/${name}`, error }, 'failed to read static pod manifest');
      }
    }
    return pods;
  }

  /** Creates the mirror Pod, and deletes an outdated one first. */
  async function createMirror(entry: Entry): Promise<void> {
    const node = context.node();
    if (entry.isBusy || !node) return;
    entry.isBusy = true;
    const { name = '', namespace = '' } = entry.pod.metadata;
    const stale = entry.stale?.metadata.uid;
    try {
      if (stale !== undefined) {
        const options = { gracePeriodSeconds: 0, preconditions: { uid: stale }, signal };
        await client.delete(podKind, { name, namespace }, options).catch(ignoreNotFound);
        entry.stale = undefined;
      }
      // An existing mirror Pod arrives through the informer like all Pods of the node.
      entry.mirror = await client.create(podKind, mirrorOf(entry.pod, node), { signal });
      if (entry.report) statuses.report(entry.mirror, { ...entry.report, isFinished: false });
    } catch (error) {
      if (!signal.aborted && !isAlreadyExists(error))
        log.warn({ pod: keyOf(entry.pod), error }, 'failed to create mirror pod');
    }
    entry.isBusy = false;
  }

  async function removeMirror(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    await client.delete(podKind, { name, namespace }, { gracePeriodSeconds: 0, signal }).catch(ignoreNotFound);
  }

  const sync = (): Promise<void> => {
    for (const entry of entries.values()) if (!entry.mirror) void createMirror(entry);
    return check().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ path, error }, 'failed to read static pod manifests');
    });
  };
  const first = sync();
  every(clock, checkMs, () => void sync(), signal);

  return {
    read: first,
    mirrorChanged({ type, object }) {
      const entry = entries.get(keyOf(object));
      if (!entry) {
        if (type !== 'deleted') void removeMirror(keyOf(object)).catch(() => {});
        return;
      }
      if (type === 'deleted') statuses.remove(object.metadata.uid ?? '');
      else statuses.observe(object);
      const isUpToDate = type !== 'deleted' && isMirrorOf(object, entry.pod);
      entry.mirror = isUpToDate ? object : undefined;
      entry.stale = type === 'deleted' || isUpToDate ? undefined : object;
      if (!isUpToDate) void createMirror(entry);
      else if (entry.report) statuses.report(object, { ...entry.report, isFinished: false });
    },
  };
}

function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}

/** Returns the static Pod of a manifest. */
export function staticPodOf(
  manifest: unknown,
  { nodeName, file, now }: { readonly nodeName: string; readonly file: string; readonly now: Instant },
): Pod {
  const manifestPod = manifest as Pod;
  if (manifestPod?.kind !== 'Pod' || !manifestPod.metadata?.name) throw new Error('manifest is not a Pod with a name');
  const uid =
    manifestPod.metadata.uid ||
    createHash('md5')
      .update(JSON.stringify([nodeName, file, manifest]))
      .digest('hex');
  const tolerations = [
    ...(manifestPod.spec?.tolerations ?? []),
    { operator: 'Exists' as const, effect: 'NoExecute' as const },
  ];
  const draft = codecOf(podKind.root).fromJson({
    ...manifestPod,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...manifestPod.metadata,
      name: `${manifestPod.metadata.name}-${nodeName.toLowerCase()}`,
      namespace: manifestPod.metadata.namespace || 'default',
      uid,
      annotations: {
        ...manifestPod.metadata.annotations,
        [hashAnnotation]: uid,
        [sourceAnnotation]: 'file',
        [seenAnnotation]: formatTime(now),
      },
    },
    spec: { ...manifestPod.spec, containers: manifestPod.spec?.containers ?? [], nodeName, tolerations },
    status: { phase: 'Pending' },
  }) as Draft<Pod>;
  defaultPod(draft);
  const pod: Pod = codecOf(podKind.root).canonical(draft);
  checkNoApiReferences(pod);
  return pod;
}

/** Rejects references to API objects: a static Pod must be able to run without the API server. */
function checkNoApiReferences(pod: Pod): void {
  const [reference] = referencesOf(pod);
  if (reference) throw new Error(`static pods may not reference ${reference.kind} ${reference.name}`);
  const { serviceAccountName, volumes = [], resourceClaims = [] } = pod.spec ?? {};
  if (serviceAccountName) throw new Error(`static pods may not reference ServiceAccount ${serviceAccountName}`);
  const claim = volumes.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral);
  if (claim) throw new Error(`static pods may not reference a claim in volume ${claim.name}`);
  if (resourceClaims.length > 0) throw new Error('static pods may not use ResourceClaims');
}

/** Returns the mirror Pod of a static Pod. */
export function mirrorOf(pod: Pod, node: Node): Pod {
  const { uid: _, annotations, ...metadata } = pod.metadata;
  const { name = '', uid = '' } = node.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      annotations: { ...annotations, [mirrorAnnotation]: annotations?.[hashAnnotation] ?? '' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true }],
    },
    ...(pod.spec ? { spec: pod.spec } : {}),
  };
}

function isMirrorOf({ metadata }: Pod, pod: Pod): boolean {
  return (
    metadata.deletionTimestamp == null &&
    metadata.annotations?.[mirrorAnnotation] === pod.metadata.annotations?.[hashAnnotation]
  );
}
