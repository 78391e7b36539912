import type { FlowSchema } from '@kruise/api/flowcontrol/flowschema';
import { isNotFound } from '@kruise/machinery/status';
import { formatTime } from '@kruise/values/time';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import { find, storedObjects } from '../objects/stored-objects.ts';
import { createWriter } from './writer.ts';

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
const conditionType = 'Dangling';

/** Maintains the Dangling condition of every FlowSchema: whether its priority level exists. */
export function followFlowSchemas(core: Core, onError: (error: unknown) => void): void {
  const objects = (plural: string) => storedObjects(core.resources, 'flowcontrol.apiserver.k8s.io', plural);
  const schemas = objects('flowschemas');
  const levels = objects('prioritylevelconfigurations');
  const writer = createWriter(core, 'api-priority-and-fairness-config-consumer-v1');
  const busy = new Set<string>();

  /** Updates the status until it is current: the FlowSchema may change during the write. */
  async function reconcileStatus(name: string): Promise<void> {
    if (busy.has(name)) return;
    busy.add(name);
    try {
      for (;;) {
        const schema = find(schemas, '', name) as FlowSchema | undefined;
        if (!schema || core.signal.aborted) return;
        const level = schema.spec?.priorityLevelConfiguration?.name ?? '';
        const wanted = statusOf(schema, level, find(levels, '', level) !== undefined, core.clock.now());
        if (!wanted) return;
        await writer.applyStatus(wanted);
        await core.feed.waitForCurrent();
      }
    } catch (error) {
      if (!isNotFound(error) && !core.signal.aborted) onError(error);
    } finally {
      busy.delete(name);
    }
  }

  const end = () => {};
  const { signal } = core;
  const receive = ({ cached }: { readonly cached: { readonly object: KubeObject } }) =>
    void reconcileStatus(cached.object.metadata.name ?? '');
  const settleAll = () => {
    for (const cached of schemas.cache.list({ keyPrefix: schemas.prefix })) receive({ cached });
  };
  schemas.cache.listAndWatch({ keyPrefix: schemas.prefix }, { signal, receive, end });
  levels.cache.listAndWatch(
    { keyPrefix: levels.prefix },
    { signal, end, receive: ({ type }) => void (type !== 'MODIFIED' && settleAll()) },
  );
  settleAll();
}

/** Returns the status to apply to a FlowSchema; undefined if the status is current. */
export function statusOf(schema: FlowSchema, level: string, exists: boolean, nowMs: number): KubeObject | undefined {
  const named = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  const condition = exists
    ? { type: conditionType, status: 'False', reason: 'Found', message: `${named} and it exists` }
    : { type: conditionType, status: 'True', reason: 'NotFound', message: `${named} but there is no such object` };
  const current = schema.status?.conditions?.find(({ type }) => type === conditionType);
  if (current?.status === condition.status && current.message === condition.message) return undefined;
  const lastTransitionTime = formatTime(nowMs);
  return {
    apiVersion,
    kind: 'FlowSchema',
    metadata: { name: schema.metadata.name! },
    status: { conditions: [{ ...condition, lastTransitionTime }] },
  };
}
