import type { RequestResult } from '../handlers/result.ts';
import { type EncodeContext, encodeComputed, encodeFound, encodeList } from '../http/encoding.ts';
import type { Headers } from '../http/http-request.ts';
import { mediaTypes } from '../http/negotiation.ts';
import { send } from '../http/send.ts';
import { warningHeaders } from '../http/warnings.ts';
import { watchResponse } from '../http/watch-response.ts';
import type { HttpPipelineRequest } from './http-pipeline.ts';
import type { Stage } from './request.ts';

/** Encodes the result in the negotiated media type, and sends it. Backends have sent their response already. */
export const encode: Stage<HttpPipelineRequest> = {
  name: 'Encode',
  transports: 'HTTP',
  failsWith: [400, 406],
  run(request) {
    return request.result && respond(request, request.result);
  },
};

async function respond(request: HttpPipelineRequest, result: RequestResult): Promise<void> {
  const { httpRequest, core, resource } = request;
  // Only backends respond without negotiation, and they return no result.
  const media = request.media!;
  const encoding: EncodeContext = { media, query: httpRequest.query, nowMs: core.clock.now() };
  const headers = {
    ...request.headers,
    ...warningHeaders(request.context),
    'content-type': mediaTypes[media.format],
  };
  switch (result.type) {
    case 'found':
      return send(httpRequest, result.code, headers, encodeFound(encoding, result.resource, result.found));
    case 'list':
      return send(httpRequest, 200, headers, encodeList(encoding, result.resource, result.listed));
    case 'object': {
      const encoded = encodeComputed(encoding, result.object, result.schema, resource?.custom ?? false);
      return send(httpRequest, result.code, headers, encoded);
    }
    case 'watch':
      return stream(request, result, encoding, headers);
  }
}

async function stream(
  request: HttpPipelineRequest,
  { resource, open }: Extract<RequestResult, { type: 'watch' }>,
  encoding: EncodeContext,
  headers: Headers,
): Promise<void> {
  const { httpRequest, core, parts } = request;
  const { format } = encoding.media;
  const type = format === 'protobuf' ? `${mediaTypes.protobuf};stream=watch` : mediaTypes[format];
  const closed = new AbortController();
  const signal = AbortSignal.any([httpRequest.signal, closed.signal]);
  const response = httpRequest.begin(200, { ...headers, 'content-type': type });
  const counted = core.controls.metrics.watchEvents(resource.kind);
  const watching = { ...encoding, frames: parts.frames, fanOut: parts.fanOut, counted, clock: core.clock };
  const sink = watchResponse(watching, resource, response, () => closed.abort());
  await open(sink, signal);
  // The watch only waits for changes from here on.
  request.release();
}
