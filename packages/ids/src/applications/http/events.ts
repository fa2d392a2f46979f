/** Events that rules may ask for with `app-layer-event:http.…`. */

/** Those that are raised, by Suricata's names. */
export const HTTP_EVENTS: ReadonlySet<string> = new Set([
  "abnormal_ce_header", "compression_bomb", "duplicate_content_length_field_in_request", "duplicate_content_length_field_in_response", "gzip_decompression_failed",
  "host_header_ambiguous", "invalid_content_length_field_in_request", "invalid_content_length_field_in_response", "invalid_request_chunk_len", "invalid_request_field_folding",
  "invalid_response_chunk_len", "invalid_response_field_folding", "invalid_transfer_encoding_value_in_request", "method_delim_non_compliant", "missing_host_header",
  "request_auth_unrecognized", "request_body_unexpected", "request_chunk_extension", "request_field_missing_colon", "request_field_too_long", "request_header_host_invalid", "request_header_invalid",
  "request_too_many_headers", "request_uri_host_invalid", "response_abnormal_transfer_encoding", "response_chunk_extension", "response_chunked_old_proto",
  "response_field_missing_colon", "response_field_too_long", "response_header_invalid", "response_invalid_protocol", "response_invalid_status", "response_too_many_headers",
  "too_many_encoding_layers", "unable_to_match_response_to_request", "uri_delim_non_compliant",
]);
