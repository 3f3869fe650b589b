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

/**
 * Failure
 * The one shape of errors.
 */
export interface Failure {
  /** What went wrong. */
  error: Problem;
}

/**
 * Problem
 * What went wrong.
 */
export interface Problem {
  code: string;
  message: string;
  field: string | null;
}

/**
 * NewExperiment
 * An experiment to create.
 */
export interface NewExperiment {
  /**
   * @minLength 1
   * @maxLength 100
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]*$
   */
  name: string;
  /** @minItems 1 */
  arms: string[];
  /** A policy and its settings */
  policy: object;
  /**
   * @min 0
   * @max 2147483647
   * @default 0
   */
  dimension?: number;
  /**
   * @min 0
   * @max 1000000000
   * @default 600
   */
  reward_window_s?: number;
  /** @default 0 */
  missing_reward?: number | null;
  /**
   * @min 0
   * @max 1
   * @default 0
   */
  floor?: number;
  /** @default null */
  reward_range?: [number, number] | null;
  /** @default false */
  requires_shown?: boolean;
  /**
   * What contexts are made of, by name: features of a visit and of each arm, in this order, pairs of them, and into how many columns they are hashed
   * @default null
   */
  features?: object | null;
}

/**
 * ExperimentOut
 * An experiment as it is now.
 */
export interface ExperimentOut {
  name: string;
  status: "paused" | "running";
  arms: ArmState[];
  policy: object;
  dimension: number;
  reward_window_s: number;
  missing_reward: number | null;
  floor: number;
  reward_range: [number, number] | null;
  requires_shown: boolean;
  snapshot: number;
  created: number;
  features?: object;
}

/**
 * ArmState
 * An arm.
 */
export interface ArmState {
  name: string;
  status: "active" | "paused" | "removed";
}

/**
 * Experiments
 * All experiments.
 */
export interface Experiments {
  experiments: ExperimentOut[];
}

/**
 * ArmChanges
 * Arms to add, pause, resume and remove: all of it happens, or nothing.
 */
export interface ArmChanges {
  /** @default [] */
  add?: string[];
  /** @default [] */
  pause?: string[];
  /** @default [] */
  resume?: string[];
  /** @default [] */
  remove?: string[];
}

/**
 * Decide
 * A request for an arm, or for a slate. The same key gets the same answer.
 */
export interface Decide {
  /**
   * @minLength 1
   * @maxLength 1000
   * @pattern ^[^\x00-\x1f\x7f]+$
   */
  key: string;
  /** @default null */
  candidates?: string[] | null;
  /**
   * A row of numbers for each candidate; or, where the experiment has features, `visit` and `arms` (by name, or in the order of the candidates)
   * @default null
   */
  contexts?: (number[][] | object) | null;
  /** @default null */
  unit?: string | null;
  /** @default null */
  count?: number | null;
  /** @default false */
  probabilities?: boolean;
  /**
   * How much each place of a slate is seen, the first most; or how many places are seen alike
   * @default null
   */
  places?: (number | number[]) | null;
}

/**
 * Decided
 * An arm, with the probability that it had.
 */
export interface Decided {
  decision: string;
  arm: string;
  propensity: number;
  snapshot: number;
  probabilities?: Record<string, number>;
  left_out?: string[];
}

/**
 * DecidedSeveral
 * Several decisions, independent of each other.
 */
export interface DecidedSeveral {
  decisions: Decided[];
}

/**
 * DecidedSlate
 * Arms at places, the first place first; `exposures` are of all candidates.
 */
export interface DecidedSlate {
  decision: string;
  slate: Placed[];
  snapshot: number;
  exposures?: Record<string, number>;
  left_out?: string[];
}

/**
 * Placed
 * An arm at a place of a slate, with the probability that it had there.
 */
export interface Placed {
  arm: string;
  place: number;
  propensity: number;
}

/**
 * Shown
 * Decisions that were shown; of slates, the places that were.
 */
export interface Shown {
  /** @minItems 1 */
  decisions: (string | ShownPlace)[];
}

/**
 * ShownPlace
 * A place of a slate that was shown.
 */
export interface ShownPlace {
  /**
   * @minLength 1
   * @maxLength 1000
   * @pattern ^[^\x00-\x1f\x7f]+$
   */
  decision: string;
  /**
   * Of a slate, from 1
   * @min 1
   * @max 2147483647
   */
  place: number;
}

/**
 * Results
 * What became of each event, in their order.
 */
export interface Results {
  results: Result[];
}

/**
 * Result
 * What became of an event.
 */
export interface Result {
  decision: string;
  status: "accepted" | "duplicate" | "late" | "parked";
  place?: number;
}

/**
 * Rewards
 * Rewards: all are taken in, or none.
 */
export interface Rewards {
  /** @minItems 1 */
  rewards: RewardIn[];
}

/**
 * RewardIn
 * A reward, of a slate one of a place. With several of different ids, their sum counts.
 */
export interface RewardIn {
  /**
   * @minLength 1
   * @maxLength 1000
   * @pattern ^[^\x00-\x1f\x7f]+$
   */
  decision: string;
  /**
   * @min -1000000000
   * @max 1000000000
   */
  reward: number;
  /**
   * @maxLength 1000
   * @default ""
   * @pattern ^[^\x00-\x1f\x7f]*$
   */
  id?: string;
  /** @default false */
  final?: boolean;
  /**
   * Of a slate, from 1
   * @default null
   */
  place?: number | null;
}

/**
 * Batch
 * Different requests in one call.
 */
export interface Batch {
  /** @minItems 1 */
  requests: Part[];
}

/**
 * Part
 * One request of several: the body is what the route of that name takes.
 */
export interface Part {
  /**
   * @minLength 1
   * @maxLength 100
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]*$
   */
  experiment: string;
  route: "decide" | "rewards" | "shown";
  body: object;
}

/**
 * BatchAnswers
 * The answers, in the order of the requests.
 */
export interface BatchAnswers {
  answers: PartAnswer[];
}

/**
 * PartAnswer
 * The answer to one request of several, as it would have been alone.
 */
export interface PartAnswer {
  status: number;
  body: object;
}

/**
 * DecisionOut
 * A decision on record.
 */
export interface DecisionOut {
  decision: string;
  time: number;
  arm: string;
  propensity: number;
  snapshot: number;
  probabilities: Record<string, number>;
  status: "mature" | "waiting";
  due: number;
  rewards: RewardOut[];
  reward: number | null;
  shown: number | null;
  contexts?: number[][];
  unit?: string;
}

/**
 * RewardOut
 * A reward on record.
 */
export interface RewardOut {
  id: string;
  reward: number;
  final: boolean;
  late: boolean;
  time: number;
}

/**
 * SlateOut
 * A slate on record.
 */
export interface SlateOut {
  decision: string;
  time: number;
  snapshot: number;
  slate: PlaceOut[];
  exposures: Record<string, number>;
  contexts?: number[][];
  unit?: string;
}

/**
 * PlaceOut
 * A place of a slate on record.
 */
export interface PlaceOut {
  place: number;
  arm: string;
  weight: number;
  propensity: number;
  status: "mature" | "waiting";
  due: number;
  rewards: RewardOut[];
  reward: number | null;
  shown: number | null;
}

/**
 * Status
 * How an experiment is doing.
 */
export interface Status {
  decisions: number;
  mature: number;
  waiting: number;
  parked: number;
  decisions_per_s: number;
  snapshot: number;
  snapshot_age_s: number;
  arms: ArmCounts[];
}

/**
 * ArmCounts
 * What came in for an arm.
 */
export interface ArmCounts {
  arm: string;
  status: string;
  decisions: number;
  rewards: number;
  late: number;
  missing: number;
  waiting: number;
  exposure?: number;
}

/**
 * Erase
 * A unit to forget.
 */
export interface Erase {
  /**
   * @minLength 1
   * @maxLength 1000
   * @pattern ^[^\x00-\x1f\x7f]+$
   */
  unit: string;
}

/**
 * Erased
 * How many decisions were made anonymous.
 */
export interface Erased {
  erased: number;
}

/**
 * Health
 * Whether the service works.
 */
export interface Health {
  status: string;
}

/**
 * Actions
 * The record of administrative actions, newest first.
 */
export interface Actions {
  actions: Action[];
  older: number;
}

/**
 * Action
 * An administrative action.
 */
export interface Action {
  time: number;
  actor: string;
  action: string;
  experiment: string | null;
  detail: any;
}

/**
 * NewToken
 * A token to create: for one experiment, or for all.
 */
export interface NewToken {
  /**
   * @minLength 1
   * @maxLength 100
   * @pattern ^[^\x00-\x1f\x7f]+$
   */
  name: string;
  role: "admin" | "decide" | "read" | "reward";
  /** @default null */
  experiment?: string | null;
  /**
   * From now on; without it, for ever
   * @default null
   */
  lifetime_s?: number | null;
}

/**
 * Token
 * A token. Its secret is shown once, when it is created.
 */
export interface Token {
  id: string;
  name: string;
  role: "admin" | "decide" | "read" | "reward";
  experiment: string | null;
  created: number;
  token?: string;
  expires?: number;
}

/**
 * Tokens
 * The tokens that are valid.
 */
export interface Tokens {
  tokens: Token[];
}

/**
 * Rotation
 * A token to replace: the old one works for a while longer.
 */
export interface Rotation {
  /**
   * @min 0
   * @max 1000000000
   * @default 3600
   */
  grace_s?: number;
  /**
   * From now on; without it, for ever
   * @default null
   */
  lifetime_s?: number | null;
}

export type QueryParamsType = Record<string | number, any>;
export type ResponseFormat = keyof Omit<Body, "body" | "bodyUsed">;

export interface FullRequestParams extends Omit<RequestInit, "body"> {
  /** set parameter to `true` for call `securityWorker` for this request */
  secure?: boolean;
  /** request path */
  path: string;
  /** content type of request body */
  type?: ContentType;
  /** query params */
  query?: QueryParamsType;
  /** format of response (i.e. response.json() -> format: "json") */
  format?: ResponseFormat;
  /** request body */
  body?: unknown;
  /** base url */
  baseUrl?: string;
  /** request cancellation token */
  cancelToken?: CancelToken;
}

export type RequestParams = Omit<
  FullRequestParams,
  "body" | "method" | "query" | "path"
>;

export interface ApiConfig<SecurityDataType = unknown> {
  baseUrl?: string;
  baseApiParams?: Omit<RequestParams, "baseUrl" | "cancelToken" | "signal">;
  securityWorker?: (
    securityData: SecurityDataType | null,
  ) => Promise<RequestParams | void> | RequestParams | void;
  customFetch?: typeof fetch;
}

export interface HttpResponse<D extends unknown, E extends unknown = unknown>
  extends Response {
  data: D;
  error: E;
}

type CancelToken = Symbol | string | number;

export enum ContentType {
  Json = "application/json",
  JsonApi = "application/vnd.api+json",
  FormData = "multipart/form-data",
  UrlEncoded = "application/x-www-form-urlencoded",
  Text = "text/plain",
}

export class HttpClient<SecurityDataType = unknown> {
  public baseUrl: string = "";
  private securityData: SecurityDataType | null = null;
  private securityWorker?: ApiConfig<SecurityDataType>["securityWorker"];
  private abortControllers = new Map<CancelToken, AbortController>();
  private customFetch = (...fetchParams: Parameters<typeof fetch>) =>
    fetch(...fetchParams);

  private baseApiParams: RequestParams = {
    credentials: "same-origin",
    headers: {},
    redirect: "follow",
    referrerPolicy: "no-referrer",
  };

  constructor(apiConfig: ApiConfig<SecurityDataType> = {}) {
    Object.assign(this, apiConfig);
  }

  public setSecurityData = (data: SecurityDataType | null) => {
    this.securityData = data;
  };

  protected encodeQueryParam(key: string, value: any) {
    const encodedKey = encodeURIComponent(key);
    return `${encodedKey}=${encodeURIComponent(typeof value === "number" ? value : `${value}`)}`;
  }

  protected addQueryParam(query: QueryParamsType, key: string) {
    return this.encodeQueryParam(key, query[key]);
  }

  protected addArrayQueryParam(query: QueryParamsType, key: string) {
    const value = query[key];
    return value.map((v: any) => this.encodeQueryParam(key, v)).join("&");
  }

  protected toQueryString(rawQuery?: QueryParamsType): string {
    const query = rawQuery || {};
    const keys = Object.keys(query).filter(
      (key) => "undefined" !== typeof query[key],
    );
    return keys
      .map((key) =>
        Array.isArray(query[key])
          ? this.addArrayQueryParam(query, key)
          : this.addQueryParam(query, key),
      )
      .join("&");
  }

  protected addQueryParams(rawQuery?: QueryParamsType): string {
    const queryString = this.toQueryString(rawQuery);
    return queryString ? `?${queryString}` : "";
  }

  private contentFormatters: Record<ContentType, (input: any) => any> = {
    [ContentType.Json]: (input: any) =>
      input !== null && (typeof input === "object" || typeof input === "string")
        ? JSON.stringify(input)
        : input,
    [ContentType.JsonApi]: (input: any) =>
      input !== null && (typeof input === "object" || typeof input === "string")
        ? JSON.stringify(input)
        : input,
    [ContentType.Text]: (input: any) =>
      input !== null && typeof input !== "string"
        ? JSON.stringify(input)
        : input,
    [ContentType.FormData]: (input: any) => {
      if (input instanceof FormData) {
        return input;
      }

      return Object.keys(input || {}).reduce((formData, key) => {
        const property = input[key];
        formData.append(
          key,
          property instanceof Blob
            ? property
            : typeof property === "object" && property !== null
              ? JSON.stringify(property)
              : `${property}`,
        );
        return formData;
      }, new FormData());
    },
    [ContentType.UrlEncoded]: (input: any) => this.toQueryString(input),
  };

  protected mergeRequestParams(
    params1: RequestParams,
    params2?: RequestParams,
  ): RequestParams {
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

  protected createAbortSignal = (
    cancelToken: CancelToken,
  ): AbortSignal | undefined => {
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

  public abortRequest = (cancelToken: CancelToken) => {
    const abortController = this.abortControllers.get(cancelToken);

    if (abortController) {
      abortController.abort();
      this.abortControllers.delete(cancelToken);
    }
  };

  public request = async <T = any, E = any>({
    body,
    secure,
    path,
    type,
    query,
    format,
    baseUrl,
    cancelToken,
    ...params
  }: FullRequestParams): Promise<T> => {
    const secureParams =
      ((typeof secure === "boolean" ? secure : this.baseApiParams.secure) &&
        this.securityWorker &&
        (await this.securityWorker(this.securityData))) ||
      {};
    const requestParams = this.mergeRequestParams(params, secureParams);
    const queryString = query && this.toQueryString(query);
    const payloadFormatter = this.contentFormatters[type || ContentType.Json];
    const responseFormat = format || requestParams.format;

    return this.customFetch(
      `${baseUrl || this.baseUrl || ""}${path}${queryString ? `?${queryString}` : ""}`,
      {
        ...requestParams,
        headers: {
          ...(requestParams.headers || {}),
          ...(type && type !== ContentType.FormData
            ? { "Content-Type": type }
            : {}),
        },
        signal:
          (cancelToken
            ? this.createAbortSignal(cancelToken)
            : requestParams.signal) || null,
        body:
          typeof body === "undefined" || body === null
            ? null
            : payloadFormatter(body),
      },
    ).then(async (response) => {
      const r = response as HttpResponse<T, E>;
      r.data = null as unknown as T;
      r.error = null as unknown as E;

      const responseToParse = responseFormat ? response.clone() : response;
      const data = !responseFormat
        ? r
        : await responseToParse[responseFormat]()
            .then((data) => {
              if (r.ok) {
                r.data = data;
              } else {
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

      if (!response.ok) throw data;
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
export class Api<
  SecurityDataType extends unknown,
> extends HttpClient<SecurityDataType> {
  v1 = {
    /**
     * No description
     *
     * @name PostV1Experiments
     * @summary Create an experiment
     * @request POST:/v1/experiments
     * @secure
     */
    postV1Experiments: (data: NewExperiment, params: RequestParams = {}) =>
      this.request<ExperimentOut, Failure>({
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
    getV1Experiments: (params: RequestParams = {}) =>
      this.request<Experiments, Failure>({
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
    getV1ExperimentsName: (name: string, params: RequestParams = {}) =>
      this.request<ExperimentOut, Failure>({
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
    deleteV1ExperimentsName: (name: string, params: RequestParams = {}) =>
      this.request<void, Failure>({
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
    postV1ExperimentsNamePause: (name: string, params: RequestParams = {}) =>
      this.request<ExperimentOut, Failure>({
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
    postV1ExperimentsNameResume: (name: string, params: RequestParams = {}) =>
      this.request<ExperimentOut, Failure>({
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
    postV1ExperimentsNameArms: (
      name: string,
      data: ArmChanges,
      params: RequestParams = {},
    ) =>
      this.request<ExperimentOut, Failure>({
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
    postV1ExperimentsNameDecide: (
      name: string,
      data: Decide,
      params: RequestParams = {},
    ) =>
      this.request<Decided | DecidedSeveral | DecidedSlate, Failure>({
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
    postV1ExperimentsNameShown: (
      name: string,
      data: Shown,
      params: RequestParams = {},
    ) =>
      this.request<Results, Failure>({
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
    postV1ExperimentsNameRewards: (
      name: string,
      data: Rewards,
      params: RequestParams = {},
    ) =>
      this.request<Results, Failure>({
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
    postV1Batch: (data: Batch, params: RequestParams = {}) =>
      this.request<BatchAnswers, Failure>({
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
    getV1ExperimentsNameDecisionsDecision: (
      name: string,
      decision: string,
      params: RequestParams = {},
    ) =>
      this.request<DecisionOut | SlateOut, Failure>({
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
    getV1ExperimentsNameStatus: (name: string, params: RequestParams = {}) =>
      this.request<Status, Failure>({
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
    getV1ExperimentsNameAudit: (
      name: string,
      query?: {
        alpha?: number;
        low?: number;
        high?: number;
      },
      params: RequestParams = {},
    ) =>
      this.request<object, Failure>({
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
    getV1ExperimentsNameExport: (name: string, params: RequestParams = {}) =>
      this.request<string, Failure>({
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
    postV1ExperimentsNameErase: (
      name: string,
      data: Erase,
      params: RequestParams = {},
    ) =>
      this.request<Erased, Failure>({
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
    getV1Actions: (params: RequestParams = {}) =>
      this.request<Actions, Failure>({
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
    postV1Tokens: (data: NewToken, params: RequestParams = {}) =>
      this.request<Token, Failure>({
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
    getV1Tokens: (params: RequestParams = {}) =>
      this.request<Tokens, Failure>({
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
    postV1TokensIdRotate: (
      id: string,
      data: Rotation,
      params: RequestParams = {},
    ) =>
      this.request<Token, Failure>({
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
    deleteV1TokensId: (id: string, params: RequestParams = {}) =>
      this.request<void, Failure>({
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
    getHealthz: (params: RequestParams = {}) =>
      this.request<Health, Failure>({
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
    getReadyz: (params: RequestParams = {}) =>
      this.request<Health, Failure>({
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
    getMetrics: (params: RequestParams = {}) =>
      this.request<string, Failure>({
        path: `/metrics`,
        method: "GET",
        secure: true,
        ...params,
      }),
  };
}
