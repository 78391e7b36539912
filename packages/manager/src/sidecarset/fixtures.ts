/** Minimal SidecarSets and Pods for tests. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarContainer, SidecarSet, SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import { formatTime, instantOf } from '@kruise/values/time';
import { managerSettings } from '../configuration/settings.ts';
import { namesInPod } from './hot-upgrade.ts';
import { formatMarks, hashOf, hashWithoutImageOf, withMark } from './marks.ts';
import { planOf } from './revisions.ts';
import { defaultSidecarSet } from './webhook/default.ts';

export const now = instantOf(2026, 1, 1, 12);
export const settings = managerSettings();

export function side(more: Partial<SidecarContainer> = {}): SidecarContainer {
  return { name: 'side', image: 'side:v2', ...more };
}

export function setOf(spec: SidecarSetSpec = {}, metadata: Partial<SidecarSet['metadata']> = {}): SidecarSet {
  return defaultSidecarSet({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'SidecarSet',
    metadata: { name: 'set', uid: 'set-uid', generation: 1, resourceVersion: '7', ...metadata },
    spec: { selector: { matchLabels: { app: 'web' } }, containers: [side()], ...spec },
  });
}

/** Returns the revision of a SidecarSet, with a revision number. */
export function revisionOf(sidecarSet: SidecarSet, revision: number): ControllerRevision {
  const { update } = planOf(sidecarSet, { revisions: [], findRevision: () => undefined }, settings.namespace);
  return { ...update, metadata: { ...update.metadata, uid: `revision-${revision}` }, revision };
}

export type PodTraits = {
  /** SidecarSet at the time of the injection. */
  readonly of?: SidecarSet;
  readonly revision?: string;
  readonly isReady?: boolean;
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  /** Images of running containers where they differ from the spec. */
  readonly running?: { readonly [container: string]: string };
  readonly ageSeconds?: number;
};

/** Builds a Pod with a main container and the injected sidecars. */
export function podOf(name: string, traits: PodTraits = {}): Pod {
  const { of = setOf(), revision, isReady = true, labels, annotations, running = {}, ageSeconds = 60 } = traits;
  const at = formatTime(now - ageSeconds * 1000);
  const mark = (hash: string) => withMark({}, of, { hash }, now)[of.metadata.name ?? '']!;
  const marked = { ...mark(hashOf(of)), ...(revision ? { controllerRevision: revision } : {}) };
  const sidecars = (of.spec.containers ?? []).flatMap((sidecar) =>
    namesInPod(sidecar).map((each, index) => ({
      name: each,
      image: (index === 0 ? sidecar.image : sidecar.upgradeStrategy?.hotUpgradeEmptyImage) ?? '',
    })),
  );
  const working = (of.spec.containers ?? []).filter((sidecar) => namesInPod(sidecar).length > 1);
  const containers = [{ name: 'main', image: 'app:v1' }, ...sidecars];
  const setName = of.metadata.name ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      resourceVersion: '3',
      creationTimestamp: at,
      labels: { app: 'web', ...labels },
      annotations: {
        'kruise.io/sidecarset-injected-list': setName,
        'kruise.io/sidecarset-hash': formatMarks({ [setName]: marked }),
        'kruise.io/sidecarset-hash-without-image': formatMarks({ [setName]: mark(hashWithoutImageOf(of)) }),
        ...(working.length > 0
          ? {
              'kruise.io/sidecarset-working-hotupgrade-container': JSON.stringify(
                Object.fromEntries(working.map((sidecar) => [sidecar.name, `${sidecar.name}-1`])),
              ),
            }
          : {}),
        ...annotations,
      },
    },
    spec: { containers, nodeName: 'node-1' },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: at }],
      containerStatuses: containers.map(({ name: container, image }) => ({
        name: container,
        image: running[container] ?? image,
        imageID: `sha256:${running[container] ?? image}`,
        ready: isReady,
        restartCount: 0,
        state: {},
        lastState: {},
      })),
    },
  };
}
