/**
 * Revision labels of Pods. StatefulSets and DaemonSets write and compare the label literally. Older CloneSets wrote the
 * full name of the revision and newer ones only its hash, so CloneSets treat both as equal.
 */
import type { Pod } from '@kruise/api/core/pod';
import { podRevisionLabel, revisionLabelOf } from '@kruise/machinery/controller-revision';

/** The label of a CloneSet's Pod with the hash of its revision. */
export const podTemplateHashLabel = 'pod-template-hash';

/** Reads and writes the revision label of the Pods of a workload. */
export type RevisionLabels = {
  /** Reports whether a Pod is at a revision. */
  isAt(pod: Pod, revision: string): boolean;
  /** Returns the labels of a Pod at a revision. */
  labelsOf(revision: string): { readonly [label: string]: string };
};

/** The label is the revision as the workload names it. */
export const literalLabels: RevisionLabels = {
  isAt: (pod, revision) => revisionLabelOf(pod) === revision,
  labelsOf: (revision) => ({ [podRevisionLabel]: revision }),
};

/** The label is the name of the revision or only its hash, which is the last part of the name. */
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

/** Returns the hash at the end of a revision's name. */
export function shortHash(revision: string): string {
  return revision.slice(revision.lastIndexOf('-') + 1);
}
