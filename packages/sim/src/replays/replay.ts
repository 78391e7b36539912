/** Helpers of replays: a cluster with a workload `web`, and the actions of users and nodes. */
import { mutatingWebhookConfiguration } from '@kruise/api/admissionregistration/mutatingwebhookconfiguration';
import { validatingWebhookConfiguration } from '@kruise/api/admissionregistration/validatingwebhookconfiguration';
import { type Pod, pod } from '@kruise/api/core/pod';
import type { ApiRequest } from '@kruise/client/transport';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { FeatureGates } from '@kruise/manager/configuration/feature-gates';
import { mutatingConfigurationName, validatingConfigurationName } from '@kruise/manager/webhooks/configurations';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { type Simulation, startSimulation } from '../simulation.ts';
import type { View } from '../view.ts';

export const namespace = 'default';
export const at = { name: 'web', namespace };
export const old = 'nginx:1.25';
export const newer = 'nginx:1.26';
export const newest = 'nginx:1.27';
/** Image that cannot be pulled, so that its containers never start. */
export const broken = 'nginx:404';
export const minute = 60_000;

export const own = (view: View) => view.list(pod).filter((each) => each.metadata.labels?.['app'] === 'web');
export const active = (view: View) => own(view).filter(isPodActive);
export const ready = (view: View) => active(view).filter(isPodReady);
export const imageOf = ({ spec }: Pod) => spec?.containers[0]?.image;
export const withImage = (image: string, pods: readonly Pod[]) => pods.filter((each) => imageOf(each) === image);
export const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name ?? '').sort();
export const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid ?? '').sort();
export const stateOf = ({ metadata }: Pod) => metadata.labels?.['lifecycle.apps.kruise.io/state'];
export const restartsOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.restartCount ?? 0;

export const selector = { matchLabels: { app: 'web' } };

export type TemplateTraits = {
  readonly labels?: { readonly [name: string]: string };
  readonly annotations?: { readonly [name: string]: string };
  readonly container?: object;
  readonly spec?: object;
};

export function template(image: string, { labels = {}, annotations, container, spec }: TemplateTraits = {}) {
  return {
    metadata: { labels: { app: 'web', ...labels }, ...(annotations ? { annotations } : {}) },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image, ...container }], ...spec },
  };
}

export const rolling = (rollingUpdate: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
export const inPlace = (rollingUpdate: object = {}) =>
  rolling({ podUpdatePolicy: 'InPlaceIfPossible', ...rollingUpdate });

/** Template of Pods that are ready only after a user sets their condition. */
export const fitGated = { spec: { readinessGates: [{ conditionType: 'example.com/fit' }] } };
export const isRunning = ({ status }: Pod) => status?.phase === 'Running';

export const claims = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];
export const stored = { container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] } };

export type ReplayOptions = {
  readonly nodes?: number;
  /** Feature gates of kruise-manager; all are enabled by default. */
  readonly gates?: () => Partial<FeatureGates>;
  /** Observes each state of the cluster once the workload exists. */
  readonly watch?: (view: View) => void;
  /** Initial downtime of kruise-manager. Its webhooks are not registered, so objects get no defaults. */
  readonly managerAwayMs?: number;
};

/** A simulation that is driven step by step, with helpers. */
export type Replay = Simulation & {
  /** Applies a merge patch to an object. */
  patch<K extends Kind>(kind: K, name: string, change: object, subresource?: string): Promise<ObjectOf<K>>;
  patchPod(name: string, change: object): Promise<Pod>;
  deletePod(name: string, options?: { readonly gracePeriodSeconds?: number }): Promise<void>;
  /** Sets the readiness condition of a Pod with the `judged` template. */
  setFit(name: string, isFit: boolean): Promise<void>;
  /** Registers a listener for the requests of kruise-manager from now on. */
  onManager(listener: (request: ApiRequest, view: View) => void): void;
  /** Starts to observe each state of the cluster. */
  beginWatching(): void;
};

export async function startReplay({ nodes = 3, gates, watch, managerAwayMs }: ReplayOptions = {}): Promise<Replay> {
  let isWatched = false;
  const stage = await startSimulation({
    seed: 'replay',
    nodes,
    onChange: (view) => isWatched && watch?.(view),
    ...(gates ? { control: { gates } } : {}),
  });
  if (managerAwayMs !== undefined) {
    stage.world.crash('manager', managerAwayMs);
    await stage.advanceUntilSettled(
      stage.client().delete(mutatingWebhookConfiguration, { name: mutatingConfigurationName }),
    );
    await stage.advanceUntilSettled(
      stage.client().delete(validatingWebhookConfiguration, { name: validatingConfigurationName }),
    );
  }
  const replay: Replay = {
    ...stage,
    patch: (kind, name, change, subresource) =>
      stage.advanceUntilSettled(
        stage
          .client()
          .patch(kind, { name, namespace }, change, { type: 'merge', ...(subresource ? { subresource } : {}) }),
      ),
    patchPod: (name, change) => replay.patch(pod, name, change),
    deletePod: async (name, options = {}) =>
      void (await stage.advanceUntilSettled(stage.client().delete(pod, { name, namespace }, options))),
    async setFit(name, isFit) {
      const condition = { type: 'example.com/fit', status: isFit ? 'True' : 'False' };
      const change = { status: { conditions: [condition] } };
      const options = { type: 'strategic', subresource: 'status' } as const;
      await stage.advanceUntilSettled(stage.client().patch(pod, { name, namespace }, change, options));
    },
    onManager(listener) {
      stage.world.onRequest(({ user, request }) => {
        if (user.username.endsWith(':kruise-manager')) listener(request, stage.view());
        return undefined;
      });
    },
    beginWatching() {
      isWatched = true;
    },
  };
  return replay;
}

/** A replay with a workload of one kind. */
export type WorkloadReplay = Replay & {
  /** Changes the workload's spec. */
  change(spec: object): Promise<void>;
  /** Updates the image of the template. */
  update(image: string, traits?: TemplateTraits): Promise<void>;
};

/** Starts a replay with a workload of `wanted` ready Pods. */
export async function withWorkload<K extends Kind>(
  kind: K,
  spec: object,
  { wanted, ...opening }: ReplayOptions & { readonly wanted: number },
): Promise<WorkloadReplay> {
  const replay = await startReplay(opening);
  await createWorkload(replay, kind, spec);
  await replay.waitFor('all Pods are ready', (view) => ready(view).length === wanted, 3 * minute);
  replay.beginWatching();
  return asWorkload(replay, kind);
}

/** Creates the workload `web` without waiting. */
export async function createWorkload(replay: Replay, kind: Kind, spec: object): Promise<void> {
  const made = { metadata: at, spec: { selector, template: template(old), ...spec } };
  await replay.advanceUntilSettled(replay.client().create(kind, made as never));
}

export function asWorkload(replay: Replay, kind: Kind): WorkloadReplay {
  const change = async (spec: object) => void (await replay.patch(kind, at.name, { spec }));
  return { ...replay, change, update: (image, traits) => change({ template: template(image, traits) }) };
}
