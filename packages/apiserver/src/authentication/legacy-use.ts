import { isConflict, isNotFound } from '@kruise/machinery/status';
import { createWriter } from '../bootstrap/writer.ts';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';

const lastUsed = 'kubernetes.io/legacy-token-last-used';

/** Notes on a Secret the day on which its token was last used, so that those nobody uses can be found. */
export function noteLegacyUse(core: Core, secret: KubeObject, onError: (error: unknown) => void): void {
  const today = new Date(core.clock.now()).toISOString().slice(0, 10);
  const { labels } = secret.metadata;
  if (labels?.[lastUsed] === today) return;
  const marked = { ...secret, metadata: { ...secret.metadata, labels: { ...labels, [lastUsed]: today } } };
  createWriter(core, 'kube-apiserver')
    .update(marked)
    .catch((error) => {
      // Someone else wrote first; the next use will note it.
      if (!isConflict(error) && !isNotFound(error)) onError(error);
    });
}
