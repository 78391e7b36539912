/** Restores earlier states of a SidecarSet from its revisions. */
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

/** The selection of a revision. A name takes precedence over a version. */
export type RevisionChoice = Pick<
  NonNullable<NonNullable<SidecarSetSpec['injectionStrategy']>['revision']>,
  'revisionName' | 'customVersion'
>;

/**
 * Returns the selected revision of a SidecarSet: the newest one if several have the same version. Throws 404 if there
 * is none.
 */
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

/** Returns the name of the SidecarSet in the label of a revision, as an index value. */
export function setOfRevision({ metadata }: ControllerRevision): readonly string[] {
  const name = metadata.labels?.[sidecarSetNameLabel];
  return name === undefined ? [] : [name];
}

/** Returns the SidecarSet with the sidecars of a revision, and without its strategies. */
export function restored(sidecarSet: SidecarSet, { metadata, data }: ControllerRevision): SidecarSet {
  const patch = isObject(data) && isObject(data['spec']) ? data['spec'] : {};
  const given = Object.entries(patch).filter(([name, value]) => name !== '$patch' && value !== null);
  // The data was written from the spec of a SidecarSet.
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
