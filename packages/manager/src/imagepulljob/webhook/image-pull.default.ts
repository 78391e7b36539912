import type { CompletionPolicy } from '@kruise/api/kruise/completion-policy';

type Template = {
  readonly completionPolicy?: CompletionPolicy;
  readonly pullPolicy?: { readonly timeoutSeconds?: number; readonly backoffLimit?: number };
};

/** Defaults that all image pull jobs share. */
export function withPullDefaults<T extends Template>(spec: T): T {
  const { completionPolicy, pullPolicy } = spec;
  return {
    ...spec,
    completionPolicy: { ...completionPolicy, type: completionPolicy?.type || 'Always' },
    pullPolicy: withAttemptDefaults(pullPolicy),
  };
}

/** Defaults of the timeout and the number of retries on a node. */
export function withAttemptDefaults<T extends NonNullable<Template['pullPolicy']>>(pullPolicy: T | undefined): T {
  // An empty policy needs no other field.
  return { timeoutSeconds: 600, backoffLimit: 3, ...pullPolicy } as T;
}
