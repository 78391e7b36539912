import type { Action } from '@kruise/client/actions';
import type { KubernetesObject } from '@kruise/client/object-key';

/** The objects of one kind there are after actions were carried out; those that are made are named in turn. */
export function carryOut<T extends KubernetesObject>(present: readonly T[], actions: readonly Action[]): readonly T[] {
  let objects = [...present];
  for (const action of actions) {
    if (!('object' in action)) continue;
    // All actions on objects are on objects of the kind.
    const object = action.object as T;
    const isSame = ({ metadata }: T) => metadata.name === object.metadata.name;
    if (action.type === 'create')
      objects.push({ ...object, metadata: { ...object.metadata, name: `made-${objects.length}` } });
    if (action.type === 'update') objects = objects.map((each) => (isSame(each) ? object : each));
    if (action.type === 'remove') objects = objects.filter((each) => !isSame(each));
  }
  return objects;
}
