/** Defaulting and validating webhooks of websites. */
import { defaulting, validating } from '@kruise/client/webhook';
import { type Cause, forbidden, invalid } from '@kruise/schema/field-error';
import type { Website } from './kind.ts';

export const webhooks = {
  '/default-websites': defaulting<Website>(withDefaults),
  '/validate-websites': validating<Website>((site, { oldObject }) => faultsOf(site, oldObject)),
};

export function withDefaults(site: Website): Website {
  const { title = site.metadata.name ?? '', replicas = 1 } = site.spec;
  return { ...site, spec: { ...site.spec, title, replicas } };
}

export function* faultsOf(site: Website, former?: Website): Generator<Cause> {
  if (/[<>]/.test(site.spec.text)) yield invalid('spec.text', site.spec.text, 'must be text without tags');
  if (former && former.spec.title !== site.spec.title) yield forbidden('spec.title', 'a website keeps its title');
}
