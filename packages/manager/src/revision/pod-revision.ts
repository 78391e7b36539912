/**
 * Which revision a Pod is at, as its labels say. StatefulSets and DaemonSets write and compare the label as it is.
 * CloneSets wrote the whole name of the revision first and only its hash later, so both are the same to them.
 */
import type { Pod } from '@kruise/api/core/pod';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';

/** The label of a CloneSet's Pod with the hash of its revision. */
export const podTemplateHashLabel = 'pod-template-hash';

/** How a workload marks the revision of its Pods. */
export type RevisionLabels = {
  /** Whether a Pod is at a revision. */
  isAt(pod: Pod, revision: string): boolean;
  /** The labels of a Pod at a revision. */
  labelsOf(revision: string): { readonly [label: string]: string };
};

/** The label holds what the workload calls the revision. */
export const literalLabels: RevisionLabels = {
  isAt: (pod, revision) => revisionLabelOf(pod) === revision,
  labelsOf: (revision) => ({ [podRevisionLabel]: revision }),
};

/** The label holds the name of the revision or only its hash, which comes last in the name. */
export function hashLabels({ isShort }: { readonly isShort: boolean }): RevisionLabels {
  return {
    isAt(pod, revision) {
      const label = revisionLabelOf(pod);
      return label === revision || shortHash(label) === shortHash(revision);
    },
    labelsOf: (revision) => ({
      [podRevisionLabel]: isShort ? shortHash(revision) : revision,
      [podTemplateHashLabel]: shortHash(revision),
    }),
  };
}

/** What the label says; empty where there is none. */
export function revisionLabelOf({ metadata }: Pod): string {
  return metadata.labels?.[podRevisionLabel] ?? '';
}

/** The hash at the end of a revision's name. */
export function shortHash(revision: string): string {
  return revision.slice(revision.lastIndexOf('-') + 1);
}
