/** Applies a ConfigMap with the page and a Deployment that serves it; fields of other managers are kept. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ConfigMap } from '@kruise/api/core/configmap';
import { apply } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import { controllerReference } from '@kruise/machinery/owner-references';
import type { Website } from './kind.ts';

export type Observed = {
  readonly site: Website;
  readonly page: ConfigMap | undefined;
  readonly servers: Deployment | undefined;
};

export function decide({ site, page, servers }: Observed): Decision<Website['status']> {
  const wantedPage = pageOf(site);
  const wantedServers = serversOf(site);
  return {
    actions: [
      ...(isSame(page?.data, wantedPage.data) ? [] : [apply(wantedPage)]),
      ...(servers?.spec?.replicas === wantedServers.spec?.replicas ? [] : [apply(wantedServers)]),
    ],
    status: { page: wantedPage.metadata.name!, readyReplicas: servers?.status?.readyReplicas ?? 0 },
  };
}

function metadataOf(site: Website) {
  const { name = '', namespace = '', uid = '' } = site.metadata;
  const { apiVersion, kind } = site;
  return { name, namespace, ownerReferences: [controllerReference({ apiVersion, kind, metadata: { name, uid } })] };
}

function pageOf(site: Website): ConfigMap {
  const html = `<h1>${site.spec.title}</h1><p>${site.spec.text}</p>\n`;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(site), data: { 'index.html': html } };
}

function serversOf(site: Website): Deployment {
  const metadata = metadataOf(site);
  const labels = { 'example.com/website': metadata.name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: site.spec.replicas ?? 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            { name: 'web', image: 'nginx:1.29', volumeMounts: [{ name: 'page', mountPath: '/usr/share/nginx/html' }] },
          ],
          volumes: [{ name: 'page', configMap: { name: metadata.name } }],
        },
      },
    },
  };
}
