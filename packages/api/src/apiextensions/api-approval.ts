/**
 * API approval: groups of the Kubernetes community are protected. A CRD in such a group must have an annotation with
 * its approval, or state that it is unapproved.
 */
import { quote } from '@kruise/values/go-syntax';

const annotation = 'api-approved.kubernetes.io';

/** The annotation with the approval. */
export const approvalAnnotation: string = annotation;

export type Approval = {
  readonly state: 'approved' | 'bypassed' | 'missing' | 'invalid';
  readonly reason: string;
};

/** Reports whether CRDs of a group need approval. */
export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** Returns the approval in the annotations of a CRD. */
export function approvalOf(annotations: { readonly [name: string]: string } | undefined): Approval {
  const value = annotations?.[annotation] ?? '';
  const needed = `protected groups must have approval annotation ${quote(annotation)}`;
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (value === '') return { state: 'missing', reason: `${needed}, ${see}` };
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quote(value)}` };
  if (isUrl(value)) return { state: 'approved', reason: `approved in ${value}` };
  return {
    state: 'invalid',
    reason: `${needed} with either a URL or a reason starting with "unapproved", ${see}`,
  };
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== '';
}
