import { type Ingress, ingress } from '@kruise/api/networking/ingress';
import { ingressClass } from '@kruise/api/networking/ingressclass';
import { type AdmissionPlugin, draftOf, isWriteTo } from '../admission.ts';
import type { Lookup } from '../lookup.ts';
import { defaultClassOf } from './default-class.ts';

/** DefaultIngressClass plugin: sets the default class on an Ingress without a class. */
export function defaultIngressClass(lookup: Lookup): AdmissionPlugin {
  const defaultClass = defaultClassOf(lookup.of(ingressClass), ['ingressclass.kubernetes.io/is-default-class']);
  return {
    name: 'DefaultIngressClass',
    handles: (attributes) => attributes.operation === 'CREATE' && isWriteTo(attributes, ingress),
    mutate(attributes) {
      const draft = draftOf<Ingress>(attributes);
      if (draft.spec?.ingressClassName != null) return;
      if (draft.metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined) return;
      const name = defaultClass();
      if (name === undefined) return;
      const spec = (draft.spec ??= {});
      spec.ingressClassName = name;
    },
  };
}
