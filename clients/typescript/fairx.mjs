// Made by scripts/typescript-client from the OpenAPI document 5504b8f9bf1d4545
/* eslint-disable */
/* tslint:disable */
// @ts-nocheck
/*
 * ---------------------------------------------------------------
 * ## THIS FILE WAS GENERATED VIA SWAGGER-TYPESCRIPT-API        ##
 * ##                                                           ##
 * ## AUTHOR: acacode                                           ##
 * ## SOURCE: https://github.com/acacode/swagger-typescript-api ##
 * ---------------------------------------------------------------
 */
export var ContentType;
(function (ContentType) {
    ContentType["Json"] = "application/json";
    ContentType["JsonApi"] = "application/vnd.api+json";
    ContentType["FormData"] = "multipart/form-data";
    ContentType["UrlEncoded"] = "application/x-www-form-urlencoded";
    ContentType["Text"] = "text/plain";
})(ContentType || (ContentType = {}));
export class HttpClient {
    baseUrl = "";
    securityData = null;
    securityWorker;
    abortControllers = new Map();
    customFetch = (...fetchParams) => fetch(...fetchParams);
    baseApiParams = {
        credentials: "same-origin",
        headers: {},
        redirect: "follow",
        referrerPolicy: "no-referrer",
    };
    constructor(apiConfig = {}) {
        Object.assign(this, apiConfig);
    }
    setSecurityData = (data) => {
        this.securityData = data;
    };
    encodeQueryParam(key, value) {
        const encodedKey = encodeURIComponent(key);
        return `${encodedKey}=${encodeURIComponent(typeof value === "number" ? value : `${value}`)}`;
    }
    addQueryParam(query, key) {
        return this.encodeQueryParam(key, query[key]);
    }
    addArrayQueryParam(query, key) {
        const value = query[key];
        return value.map((v) => this.encodeQueryParam(key, v)).join("&");
    }
    toQueryString(rawQuery) {
        const query = rawQuery || {};
        const keys = Object.keys(query).filter((key) => "undefined" !== typeof query[key]);
        return keys
            .map((key) => Array.isArray(query[key])
            ? this.addArrayQueryParam(query, key)
            : this.addQueryParam(query, key))
            .join("&");
    }
    addQueryParams(rawQuery) {
        const queryString = this.toQueryString(rawQuery);
        return queryString ? `?${queryString}` : "";
    }
    contentFormatters = {
        [ContentType.Json]: (input) => input !== null && (typeof input === "object" || typeof input === "string")
            ? JSON.stringify(input)
            : input,
        [ContentType.JsonApi]: (input) => input !== null && (typeof input === "object" || typeof input === "string")
            ? JSON.stringify(input)
            : input,
        [ContentType.Text]: (input) => input !== null && typeof input !== "string"
            ? JSON.stringify(input)
            : input,
        [ContentType.FormData]: (input) => {
            if (input instanceof FormData) {
                return input;
            }
            return Object.keys(input || {}).reduce((formData, key) => {
                const property = input[key];
                formData.append(key, property instanceof Blob
                    ? property
                    : typeof property === "object" && property !== null
                        ? JSON.stringify(property)
                        : `${property}`);
                return formData;
            }, new FormData());
        },
        [ContentType.UrlEncoded]: (input) => this.toQueryString(input),
    };
    mergeRequestParams(params1, params2) {
        return {
            ...this.baseApiParams,
            ...params1,
            ...(params2 || {}),
            headers: {
                ...(this.baseApiParams.headers || {}),
                ...(params1.headers || {}),
                ...((params2 && params2.headers) || {}),
            },
        };
    }
    createAbortSignal = (cancelToken) => {
        if (this.abortControllers.has(cancelToken)) {
            const abortController = this.abortControllers.get(cancelToken);
            if (abortController) {
                return abortController.signal;
            }
            return void 0;
        }
        const abortController = new AbortController();
        this.abortControllers.set(cancelToken, abortController);
        return abortController.signal;
    };
    abortRequest = (cancelToken) => {
        const abortController = this.abortControllers.get(cancelToken);
        if (abortController) {
            abortController.abort();
            this.abortControllers.delete(cancelToken);
        }
    };
    request = async ({ body, secure, path, type, query, format, baseUrl, cancelToken, ...params }) => {
        const secureParams = ((typeof secure === "boolean" ? secure : this.baseApiParams.secure) &&
            this.securityWorker &&
            (await this.securityWorker(this.securityData))) ||
            {};
        const requestParams = this.mergeRequestParams(params, secureParams);
        const queryString = query && this.toQueryString(query);
        const payloadFormatter = this.contentFormatters[type || ContentType.Json];
        const responseFormat = format || requestParams.format;
        return this.customFetch(`${baseUrl || this.baseUrl || ""}${path}${queryString ? `?${queryString}` : ""}`, {
            ...requestParams,
            headers: {
                ...(requestParams.headers || {}),
                ...(type && type !== ContentType.FormData
                    ? { "Content-Type": type }
                    : {}),
            },
            signal: (cancelToken
                ? this.createAbortSignal(cancelToken)
                : requestParams.signal) || null,
            body: typeof body === "undefined" || body === null
                ? null
                : payloadFormatter(body),
        }).then(async (response) => {
            const r = response;
            r.data = null;
            r.error = null;
            const responseToParse = responseFormat ? response.clone() : response;
            const data = !responseFormat
                ? r
                : await responseToParse[responseFormat]()
                    .then((data) => {
                    if (r.ok) {
                        r.data = data;
                    }
                    else {
                        r.error = data;
                    }
                    return r;
                })
                    .catch((e) => {
                    r.error = e;
                    return r;
                });
            if (cancelToken) {
                this.abortControllers.delete(cancelToken);
            }
            if (!response.ok)
                throw data;
            return data.data;
        });
    };
}
/**
 * @title fairx
 * @version 0.1.0
 *
 * Merit-fair decisions
 */
export class Api extends HttpClient {
    v1 = {
        /**
         * No description
         *
         * @name PostV1Experiments
         * @summary Create an experiment
         * @request POST:/v1/experiments
         * @secure
         */
        postV1Experiments: (data, params = {}) => this.request({
            path: `/v1/experiments`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1Experiments
         * @summary List experiments
         * @request GET:/v1/experiments
         * @secure
         */
        getV1Experiments: (params = {}) => this.request({
            path: `/v1/experiments`,
            method: "GET",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1ExperimentsName
         * @summary Get an experiment
         * @request GET:/v1/experiments/{name}
         * @secure
         */
        getV1ExperimentsName: (name, params = {}) => this.request({
            path: `/v1/experiments/${name}`,
            method: "GET",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name DeleteV1ExperimentsName
         * @summary Delete an experiment
         * @request DELETE:/v1/experiments/{name}
         * @secure
         */
        deleteV1ExperimentsName: (name, params = {}) => this.request({
            path: `/v1/experiments/${name}`,
            method: "DELETE",
            secure: true,
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNamePause
         * @summary Pause an experiment
         * @request POST:/v1/experiments/{name}/pause
         * @secure
         */
        postV1ExperimentsNamePause: (name, params = {}) => this.request({
            path: `/v1/experiments/${name}/pause`,
            method: "POST",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNameResume
         * @summary Resume an experiment
         * @request POST:/v1/experiments/{name}/resume
         * @secure
         */
        postV1ExperimentsNameResume: (name, params = {}) => this.request({
            path: `/v1/experiments/${name}/resume`,
            method: "POST",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNameArms
         * @summary Change arms
         * @request POST:/v1/experiments/{name}/arms
         * @secure
         */
        postV1ExperimentsNameArms: (name, data, params = {}) => this.request({
            path: `/v1/experiments/${name}/arms`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNameDecide
         * @summary Decide
         * @request POST:/v1/experiments/{name}/decide
         * @secure
         */
        postV1ExperimentsNameDecide: (name, data, params = {}) => this.request({
            path: `/v1/experiments/${name}/decide`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNameShown
         * @summary Say what was shown
         * @request POST:/v1/experiments/{name}/shown
         * @secure
         */
        postV1ExperimentsNameShown: (name, data, params = {}) => this.request({
            path: `/v1/experiments/${name}/shown`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNameRewards
         * @summary Send rewards
         * @request POST:/v1/experiments/{name}/rewards
         * @secure
         */
        postV1ExperimentsNameRewards: (name, data, params = {}) => this.request({
            path: `/v1/experiments/${name}/rewards`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1Batch
         * @summary Ask different things in one call
         * @request POST:/v1/batch
         * @secure
         */
        postV1Batch: (data, params = {}) => this.request({
            path: `/v1/batch`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1ExperimentsNameDecisionsDecision
         * @summary Get a decision
         * @request GET:/v1/experiments/{name}/decisions/{decision}
         * @secure
         */
        getV1ExperimentsNameDecisionsDecision: (name, decision, params = {}) => this.request({
            path: `/v1/experiments/${name}/decisions/${decision}`,
            method: "GET",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1ExperimentsNameStatus
         * @summary Get counts
         * @request GET:/v1/experiments/{name}/status
         * @secure
         */
        getV1ExperimentsNameStatus: (name, params = {}) => this.request({
            path: `/v1/experiments/${name}/status`,
            method: "GET",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1ExperimentsNameAudit
         * @summary Audit the exposure
         * @request GET:/v1/experiments/{name}/audit
         * @secure
         */
        getV1ExperimentsNameAudit: (name, query, params = {}) => this.request({
            path: `/v1/experiments/${name}/audit`,
            method: "GET",
            query: query,
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1ExperimentsNameExport
         * @summary Export the decision log
         * @request GET:/v1/experiments/{name}/export
         * @secure
         */
        getV1ExperimentsNameExport: (name, params = {}) => this.request({
            path: `/v1/experiments/${name}/export`,
            method: "GET",
            secure: true,
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1ExperimentsNameErase
         * @summary Forget a unit
         * @request POST:/v1/experiments/{name}/erase
         * @secure
         */
        postV1ExperimentsNameErase: (name, data, params = {}) => this.request({
            path: `/v1/experiments/${name}/erase`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1Actions
         * @summary List administrative actions
         * @request GET:/v1/actions
         * @secure
         */
        getV1Actions: (params = {}) => this.request({
            path: `/v1/actions`,
            method: "GET",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1Tokens
         * @summary Create a token
         * @request POST:/v1/tokens
         * @secure
         */
        postV1Tokens: (data, params = {}) => this.request({
            path: `/v1/tokens`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name GetV1Tokens
         * @summary List tokens
         * @request GET:/v1/tokens
         * @secure
         */
        getV1Tokens: (params = {}) => this.request({
            path: `/v1/tokens`,
            method: "GET",
            secure: true,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name PostV1TokensIdRotate
         * @summary Replace a token
         * @request POST:/v1/tokens/{id}/rotate
         * @secure
         */
        postV1TokensIdRotate: (id, data, params = {}) => this.request({
            path: `/v1/tokens/${id}/rotate`,
            method: "POST",
            body: data,
            secure: true,
            type: ContentType.Json,
            format: "json",
            ...params,
        }),
        /**
         * No description
         *
         * @name DeleteV1TokensId
         * @summary Revoke a token
         * @request DELETE:/v1/tokens/{id}
         * @secure
         */
        deleteV1TokensId: (id, params = {}) => this.request({
            path: `/v1/tokens/${id}`,
            method: "DELETE",
            secure: true,
            ...params,
        }),
    };
    healthz = {
        /**
         * No description
         *
         * @name GetHealthz
         * @summary Is the process alive?
         * @request GET:/healthz
         */
        getHealthz: (params = {}) => this.request({
            path: `/healthz`,
            method: "GET",
            format: "json",
            ...params,
        }),
    };
    readyz = {
        /**
         * No description
         *
         * @name GetReadyz
         * @summary Can it decide?
         * @request GET:/readyz
         */
        getReadyz: (params = {}) => this.request({
            path: `/readyz`,
            method: "GET",
            format: "json",
            ...params,
        }),
    };
    metrics = {
        /**
         * No description
         *
         * @name GetMetrics
         * @summary Counts for Prometheus
         * @request GET:/metrics
         * @secure
         */
        getMetrics: (params = {}) => this.request({
            path: `/metrics`,
            method: "GET",
            secure: true,
            ...params,
        }),
    };
}
