import { isConflict, isNotFound } from '@kruise/machinery/status';
import { createWriter } from '../bootstrap/writer.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';

const lastUsed = 'kubernetes.io/legacy-token-last-used';

/** Records on a Secret the day of the last use of its token, so that unused tokens can be found. */
export function recordLegacyTokenUse(core: Core, secret: KubeObject, onError: (error: unknown) => void): void {
  const today = new Date(core.clock.now()).toISOString().slice(0, 10);
  const { labels } = secret.metadata;
  if (labels?.[lastUsed] === today) return;
  const marked = { ...secret, metadata: { ...secret.metadata, labels: { ...labels, [lastUsed]: today } } };
  createWriter(core, 'kube-apiserver')
    .update(marked)
    .catch((error) => {
      // On conflict, the next use of the token updates the Secret.
      if (!isConflict(error) && !isNotFound(error)) onError(error);
    });
}
