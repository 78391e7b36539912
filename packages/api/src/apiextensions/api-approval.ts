/** Groups of the Kubernetes community are protected: a definition in one says who approved it, or that nobody did. */
import { quote } from '@kruise/values/go-syntax';

const annotation = 'api-approved.kubernetes.io';

/** Where approval is noted. */
export const approvalAnnotation: string = annotation;

export type Approval = {
  readonly state: 'approved' | 'bypassed' | 'missing' | 'invalid';
  readonly reason: string;
};

/** Whether definitions in a group need approval. */
export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** What the annotations of a definition say about its approval. */
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
