import type { CompletionPolicy } from '@kruise/api/kruise/completion-policy';

type Template = {
  readonly completionPolicy?: CompletionPolicy;
  readonly pullPolicy?: { readonly timeoutSeconds?: number; readonly backoffLimit?: number };
};

/** What every job that fetches images is taken to mean (images.md §3.2). */
export function withPullDefaults<T extends Template>(spec: T): T {
  const { completionPolicy, pullPolicy } = spec;
  return {
    ...spec,
    completionPolicy: { ...completionPolicy, type: completionPolicy?.type || 'Always' },
    pullPolicy: withAttemptDefaults(pullPolicy),
  };
}

/** How often and how long a node tries. */
export function withAttemptDefaults<T extends NonNullable<Template['pullPolicy']>>(pullPolicy: T | undefined): T {
  // Nothing more is needed of what says nothing.
  return { timeoutSeconds: 600, backoffLimit: 3, ...pullPolicy } as T;
}
