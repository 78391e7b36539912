/**
 * Pods that come from files of the node rather than from the API (kubelet.md §12). For each of them there is a Pod in the
 * API that mirrors it, for people to see; to delete that one changes nothing.
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
import type { HostFiles } from '../cri/runtime.ts';
import { hashAnnotation, mirrorAnnotation, seenAnnotation, sourceAnnotation } from './critical.ts';
import type { PodWorker } from './pod-worker.ts';
import type { Report, StatusWriter } from './status-writer.ts';
import { referencesOf } from './volume-content.ts';

/** What static Pods work with. */
export type StaticPodContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly files: HostFiles;
  /** Where the files are. */
  readonly path: string;
  readonly nodeName: string;
  readonly node: () => Node | undefined;
  readonly statuses: StatusWriter;
  /** Has a Pod run. */
  readonly begin: (pod: Pod, statuses: StatusWriter) => PodWorker;
};

/** The static Pods of a node. */
export type StaticPods = {
  /** A mirror in the API has changed. */
  mirrorChanged(change: Change<Pod>): void;
  /** Resolves when the files have been read once. */
  readonly read: Promise<void>;
};

type Entry = {
  readonly pod: Pod;
  readonly worker: PodWorker;
  mirror: Pod | undefined;
  /** A mirror of something else that has its name. */
  stale: Pod | undefined;
  report: Report | undefined;
  isBusy: boolean;
};

const checkMs = 20_000;

/** Runs what files say until the signal is aborted. */
export function startStaticPods(context: StaticPodContext, signal: AbortSignal): StaticPods {
  const { client, clock, log, files, path, nodeName, statuses } = context;
  const entries = new Map<string, Entry>();
  /** Names whose Pods are on their way out. */
  const leaving = new Set<string>();
  const keyOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`;

  /** What is said of a static Pod is said of its mirror. */
  const mirrored = (key: string): StatusWriter => ({
    ...statuses,
    report(_pod, report) {
      const entry = entries.get(key);
      if (!entry) return;
      entry.report = report;
      if (entry.mirror) statuses.report(entry.mirror, { ...report, isFinished: false });
    },
    seen() {},
    forget() {},
  });

  async function check(): Promise<void> {
    const found = new Map<string, Pod>();
    for (const pod of await read()) found.set(keyOf(pod), pod);
    for (const [key, { pod, worker, mirror }] of entries) {
      if (found.get(key)?.metadata.uid === pod.metadata.uid) continue;
      entries.delete(key);
      leaving.add(key);
      worker.remove();
      // Another of its name waits until nothing is left of this one.
      const next = found.get(key);
      void worker.gone.then(() => {
        leaving.delete(key);
        if (next) begin(key, next, mirror);
      });
      if (!next) await removeMirror(key);
    }
    for (const [key, pod] of found) if (!entries.has(key) && !leaving.has(key)) begin(key, pod);
  }

  function begin(key: string, pod: Pod, stale?: Pod): void {
    if (entries.has(key) || signal.aborted) return;
    const worker = context.begin(pod, mirrored(key));
    const entry: Entry = { pod, worker, mirror: undefined, stale, report: undefined, isBusy: false };
    entries.set(key, entry);
    void showMirror(entry);
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
        log.warn({ file: `${path}/${name}`, error }, 'a static Pod could not be read');
      }
    }
    return pods;
  }

  /** Has the API show the Pod as it is. */
  async function showMirror(entry: Entry): Promise<void> {
    const node = context.node();
    if (entry.isBusy || !node) return;
    entry.isBusy = true;
    const { name = '', namespace = '' } = entry.pod.metadata;
    const stale = entry.stale?.metadata.uid;
    try {
      if (stale !== undefined) {
        const options = { gracePeriodSeconds: 0, preconditions: { uid: stale }, signal };
        await client.delete(podKind, { name, namespace }, options).catch(absent);
        entry.stale = undefined;
      }
      // One that is there already is heard of like all Pods of the node.
      entry.mirror = await client.create(podKind, mirrorOf(entry.pod, node), { signal });
      if (entry.report) statuses.report(entry.mirror, { ...entry.report, isFinished: false });
    } catch (error) {
      if (!signal.aborted && !isAlreadyExists(error))
        log.warn({ pod: keyOf(entry.pod), error }, 'a static Pod is not shown');
    }
    entry.isBusy = false;
  }

  async function removeMirror(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    await client.delete(podKind, { name, namespace }, { gracePeriodSeconds: 0, signal }).catch(absent);
  }

  const look = (): Promise<void> => {
    for (const entry of entries.values()) if (!entry.mirror) void showMirror(entry);
    return check().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ path, error }, 'static Pods could not be read');
    });
  };
  const first = look();
  every(clock, checkMs, () => void look(), signal);

  return {
    read: first,
    mirrorChanged({ type, object }) {
      const entry = entries.get(keyOf(object));
      if (!entry) {
        if (type !== 'deleted') void removeMirror(keyOf(object)).catch(() => {});
        return;
      }
      if (type === 'deleted') statuses.forget(object.metadata.uid ?? '');
      else statuses.seen(object);
      const isSound = type !== 'deleted' && isMirrorOf(object, entry.pod);
      entry.mirror = isSound ? object : undefined;
      entry.stale = type === 'deleted' || isSound ? undefined : object;
      if (!isSound) void showMirror(entry);
      else if (entry.report) statuses.report(object, { ...entry.report, isFinished: false });
    },
  };
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
  return undefined;
}

/** What a file says, made into a Pod of this node. */
export function staticPodOf(
  manifest: unknown,
  { nodeName, file, now }: { readonly nodeName: string; readonly file: string; readonly now: Instant },
): Pod {
  const given = manifest as Pod;
  if (given?.kind !== 'Pod' || !given.metadata?.name) throw new Error('this is no Pod');
  const uid =
    given.metadata.uid ||
    createHash('md5')
      .update(JSON.stringify([nodeName, file, manifest]))
      .digest('hex');
  const tolerations = [
    ...(given.spec?.tolerations ?? []),
    { operator: 'Exists' as const, effect: 'NoExecute' as const },
  ];
  const draft = codecOf(podKind.root).fromJson({
    ...given,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...given.metadata,
      name: `${given.metadata.name}-${nodeName.toLowerCase()}`,
      namespace: given.metadata.namespace || 'default',
      uid,
      annotations: {
        ...given.metadata.annotations,
        [hashAnnotation]: uid,
        [sourceAnnotation]: 'file',
        [seenAnnotation]: formatTime(now),
      },
    },
    spec: { ...given.spec, containers: given.spec?.containers ?? [], nodeName, tolerations },
    status: { phase: 'Pending' },
  }) as Draft<Pod>;
  defaultPod(draft);
  const pod: Pod = codecOf(podKind.root).canonical(draft);
  checkStandsAlone(pod);
  return pod;
}

/** A Pod that has to run without the API cannot wait for anything from it. */
function checkStandsAlone(pod: Pod): void {
  const [reference] = referencesOf(pod);
  if (reference) throw new Error(`static pods may not reference ${reference.kind} ${reference.name}`);
  const { serviceAccountName, volumes = [], resourceClaims = [] } = pod.spec ?? {};
  if (serviceAccountName) throw new Error(`static pods may not reference ServiceAccount ${serviceAccountName}`);
  const claim = volumes.find(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral);
  if (claim) throw new Error(`static pods may not reference a claim in volume ${claim.name}`);
  if (resourceClaims.length > 0) throw new Error('static pods may not use ResourceClaims');
}

/** The Pod that shows a static one in the API. */
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
