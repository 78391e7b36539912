import { type Action, flattenSteps, isBeingDeleted, type Step } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { KubernetesObject } from '@kruise/client/object-key';
import { applyMergePatch } from '@kruise/machinery/merge-patch';

/** Returns the objects of one kind after executing actions; generated names are numbered. */
export function executeActions<T extends KubernetesObject>(
  present: readonly T[],
  steps: readonly Step[],
): readonly T[] {
  let objects = [...present];
  for (const action of flattenSteps(steps)) {
    if (!('object' in action)) continue;
    // All actions are on objects of the kind.
    const object = action.object as T;
    if (action.type === 'create') {
      const name = object.metadata.name ?? freeName(objects);
      objects.push({ ...object, metadata: { ...object.metadata, name } });
      continue;
    }
    objects = objects.flatMap((each) => {
      if (each.metadata.name !== object.metadata.name) return [each];
      const after = changed(each, action);
      return after ? [after] : [];
    });
  }
  return objects;
}

function freeName(objects: readonly KubernetesObject[]): string {
  const taken = new Set(objects.map(({ metadata }) => metadata.name));
  for (let number = objects.length; ; number++) if (!taken.has(`made-${number}`)) return `made-${number}`;
}

/** Returns the object of a decision after executing its actions and status update; undefined if it is deleted. */
export function objectAfter<T extends KubernetesObject>(object: T, { actions, status }: Decision): T | undefined {
  const [after] = executeActions(
    [object],
    flattenSteps(actions).filter((action) => 'object' in action && action.object.kind === object.kind),
  );
  if (!after) return undefined;
  const reported = typeof status === 'function' ? status({ failures: [], isStale: false, written: new Map() }) : status;
  return reported === undefined ? after : { ...after, status: reported };
}

function changed<T extends KubernetesObject>(object: T, action: Action): T | undefined {
  if (action.type === 'remove') return afterDeletion({ ...object, metadata: { ...object.metadata, ...deleted } });
  if (action.type === 'update') return afterDeletion(action.object as T);
  if (action.type !== 'patch') return object;
  // Patches in tests are merge patches, or equivalent to one.
  return afterDeletion(applyMergePatch(object, action.patch) as T);
}

const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };

/** A terminating object is deleted once it has no finalizers. */
function afterDeletion<T extends KubernetesObject>(object: T): T | undefined {
  return isBeingDeleted(object) && !object.metadata.finalizers?.length ? undefined : object;
}
