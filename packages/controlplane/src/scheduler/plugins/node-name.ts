import type { Plugin } from '../plugin.ts';

const name = 'NodeName';
const rejection = { plugin: name, isPreemptable: false, reasons: ["node(s) didn't match the requested node name"] };

/** NodeName plugin: allows only the node that the Pod names, if any. */
export const nodeName: Plugin = {
  name,
  isLocal: true,
  filter({ spec }) {
    const wanted = spec.nodeName;
    if (!wanted) return undefined;
    return { filter: { check: (node) => (node.name === wanted ? undefined : rejection) } };
  },
  events: [{ resource: 'Node', actions: ['Add'] }],
};
