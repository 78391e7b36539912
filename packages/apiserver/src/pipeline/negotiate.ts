import { unsupportedMethod } from '../handlers/http-errors.ts';
import {
  builtinOffer,
  checkForm,
  checkStream,
  listRouteTypes,
  type Media,
  negotiate as negotiateMedia,
  type Offer,
  routeTypes,
  wantsPretty,
} from '../http/negotiation.ts';
import type { HttpPipelineRequest } from './http-pipeline.ts';
import type { Stage } from './request.ts';

/** Selects the media type and the view of the response. Backends negotiate themselves. */
export const negotiate: Stage<HttpPipelineRequest> = {
  name: 'Negotiate',
  transports: 'HTTP',
  failsWith: [405, 406],
  run(request) {
    if (!request.backend) request.media = mediaFor(request);
    return undefined;
  },
};

const customOffer: Offer = { ...builtinOffer, formats: ['json', 'yaml'] };
const noTableOffer: Offer = { ...builtinOffer, views: ['object', 'metadata', 'metadataList'] };

/** Returns the supported media types and views; actions and connect subresources have none. */
function offerOf({ context, resource }: HttpPipelineRequest): Offer {
  const { subresource, plural } = context.info;
  if (resource?.custom) return customOffer;
  if (!resource) return plural === 'componentstatuses' ? builtinOffer : noTableOffer;
  return resource.subresources.get(subresource)?.type === 'action' ? noTableOffer : builtinOffer;
}

function mediaFor(request: HttpPipelineRequest): Media {
  const { httpRequest, resource } = request;
  const { info, query, userAgent } = request.context;
  const { accept } = httpRequest.headers;
  if (httpRequest.method === 'HEAD') throw unsupportedMethod(['GET']);
  if (!resource?.custom) checkForm(accept, info.verb === 'list' || info.verb === 'watch' ? listRouteTypes : routeTypes);
  const media = negotiateMedia(accept ?? '', offerOf(request), wantsPretty(query, userAgent));
  if (info.verb === 'watch') checkStream(media);
  return media;
}
