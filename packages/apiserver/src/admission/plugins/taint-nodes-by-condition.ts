import { type Node, node } from '@kruise/api/core/node';
import { type AdmissionPlugin, draftOf, isWriteTo } from '../admission.ts';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

/** TaintNodesByCondition plugin: a new Node gets the not-ready taint until its controller removes the taint. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  handles: (attributes) => attributes.operation === 'CREATE' && isWriteTo(attributes, node),
  mutate(attributes) {
    const draft = draftOf<Node>(attributes);
    const spec = (draft.spec ??= {});
    const taints = (spec.taints ??= []);
    if (!taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) {
      taints.push({ ...notReady });
    }
  },
};
