/** Revisions of a SidecarSet, which are stored in the namespace of the manager. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { sidecarSetCustomVersionLabel, sidecarSetNameLabel } from '@kruise/api/kruise/well-known';
import { type Action, create, parallel, patch, remove, type Step } from '@kruise/client/actions';
import {
  compareRevisions,
  nameOfRevision,
  planRevision,
  type RevisionContent,
  type RevisionPlan,
} from '@kruise/machinery/controller-revision';
import { sidecarSetData } from './fingerprint.ts';
import { markOf } from './marks.ts';

/** Revision history of a SidecarSet. */
export type History = {
  /** Revisions of the SidecarSet, in any order. */
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the namespace of the manager, whatever its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
};

/** Plans the current revision of the SidecarSet, existing or to create in a namespace. */
export function planOf(sidecarSet: SidecarSet, history: History, namespace: string): RevisionPlan {
  const { metadata, status } = sidecarSet;
  const owner = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'SidecarSet',
    metadata: { ...metadata, namespace },
  };
  return planRevision(owner, {
    history: history.revisions,
    content: contentOf(sidecarSet),
    collisionCount: status?.collisionCount,
    findRevision: history.findRevision,
  });
}

function contentOf({ metadata, spec }: SidecarSet): RevisionContent {
  return {
    data: sidecarSetData(spec),
    labels: { ...metadata.labels, ...versionLabel(spec.customVersion), [sidecarSetNameLabel]: metadata.name ?? '' },
    annotations: metadata.annotations,
  };
}

function versionLabel(version: string | undefined): { readonly [label: string]: string } {
  return version ? { [sidecarSetCustomVersionLabel]: version } : {};
}

/** Writes the revision where it is new or where a rollback reuses it, and the custom version where it changed. */
export function writeRevision({ spec }: SidecarSet, { change, update }: RevisionPlan): readonly Action[] {
  if (change === 'create') return [create(update)];
  const { customVersion } = spec;
  const hasVersionLabel = !customVersion || update.metadata.labels?.[sidecarSetCustomVersionLabel] === customVersion;
  if (change === 'none' && hasVersionLabel) return [];
  return [
    patch(update, {
      ...(hasVersionLabel ? {} : { metadata: { labels: versionLabel(customVersion) } }),
      ...(change === 'renumber' ? { revision: update.revision } : {}),
    }),
  ];
}

/**
 * Prunes the oldest revisions beyond the history limit. Revisions that Pods use, that new Pods will use, and the
 * current revision stay.
 */
export function pruneRevisionHistory(
  { metadata, spec }: SidecarSet,
  revisions: readonly ControllerRevision[],
  { update }: RevisionPlan,
  pods: readonly Pod[],
): readonly Step[] {
  const kept = [...revisions.filter((each) => nameOfRevision(each) !== nameOfRevision(update)), update].sort(
    compareRevisions,
  );
  const { revisionName, customVersion } = spec.injectionStrategy?.revision ?? {};
  const ofVersion = kept.findLast(
    ({ metadata: { labels } }) => labels?.[sidecarSetCustomVersionLabel] === customVersion,
  );
  const inUse = new Set([
    nameOfRevision(update),
    revisionName,
    ...(customVersion !== undefined && ofVersion ? [nameOfRevision(ofVersion)] : []),
    ...pods.map((pod) => markOf(pod, metadata.name ?? '')?.controllerRevision),
  ]);
  const surplus = kept.length - Math.max(1, spec.revisionHistoryLimit ?? 10);
  const prunable = kept.filter((each) => !inUse.has(nameOfRevision(each)));
  return parallel(prunable.slice(0, Math.max(0, surplus)).map(remove));
}
