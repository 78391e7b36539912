/** Earlier states of a SidecarSet, brought back from its revisions (sidecarset.md §12.4). */
import { type ControllerRevision, controllerRevision } from '@kruise/api/apps/controllerrevision';
import type { SidecarSet, SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import {
  sidecarSetCustomVersionLabel,
  sidecarSetHashAnnotation,
  sidecarSetHashWithoutImageAnnotation,
  sidecarSetNameLabel,
} from '@kruise/api/kruise/well-known';
import type { Caches } from '@kruise/client/informer';
import { compareRevisions } from '@kruise/machinery/controller-revision';
import { isObject } from '@kruise/machinery/json-value';
import { notFound } from '@kruise/machinery/status';
import { sidecarSetHash, sidecarSetHashWithoutImage } from './fingerprint.ts';

/** Which revision is meant. A name says more than a version. */
export type RevisionChoice = Pick<
  NonNullable<NonNullable<SidecarSetSpec['injectionStrategy']>['revision']>,
  'revisionName' | 'customVersion'
>;

/** The revision of a SidecarSet that a choice names: of several with one version, the newest. Throws 404. */
export function chosenRevision(
  caches: Caches,
  namespace: string,
  { metadata: { name = '' } }: SidecarSet,
  { revisionName, customVersion }: RevisionChoice,
): ControllerRevision {
  const revisions = caches.of(controllerRevision);
  const ofVersion = () =>
    revisions
      .byIndex(setOfRevision, name)
      .filter(({ metadata }) => metadata.namespace === namespace)
      .filter(({ metadata: { labels } }) => labels?.[sidecarSetCustomVersionLabel] === customVersion)
      .sort(compareRevisions)
      .at(-1);
  const found = revisionName === undefined ? ofVersion() : revisions.get({ namespace, name: revisionName });
  if (!found) throw notFound({ group: 'apps', plural: 'ControllerRevision' }, revisionName ?? name);
  return found;
}

/** The SidecarSet whose name a revision has. */
export function setOfRevision({ metadata }: ControllerRevision): readonly string[] {
  const name = metadata.labels?.[sidecarSetNameLabel];
  return name === undefined ? [] : [name];
}

/** The SidecarSet with what Pods get from it as it was; of its strategies nothing is left. */
export function restored(sidecarSet: SidecarSet, { metadata, data }: ControllerRevision): SidecarSet {
  const patch = isObject(data) && isObject(data['spec']) ? data['spec'] : {};
  const given = Object.entries(patch).filter(([name, value]) => name !== '$patch' && value !== null);
  // It was written from the spec of a SidecarSet.
  const spec = Object.fromEntries(given) as SidecarSetSpec;
  const annotations = {
    ...sidecarSet.metadata.annotations,
    [sidecarSetHashAnnotation]: metadata.annotations?.[sidecarSetHashAnnotation] || sidecarSetHash(spec),
    [sidecarSetHashWithoutImageAnnotation]:
      metadata.annotations?.[sidecarSetHashWithoutImageAnnotation] || sidecarSetHashWithoutImage(spec),
  };
  const none = { matchedPods: 0, updatedPods: 0, readyPods: 0 };
  return {
    ...sidecarSet,
    metadata: { ...sidecarSet.metadata, annotations },
    spec,
    status: { ...none, ...sidecarSet.status, latestRevision: metadata.name ?? '' },
  };
}
