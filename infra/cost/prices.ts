/** A list price of AWS in US dollars, without free tiers, of the first tier where there are several. */
export interface Price {
  readonly usd: number;
  /** What the price is for. A GB has 2^30 bytes. Prices of storage and metrics are per month. */
  readonly per: string;
  /** How many requests, GB or other units the price is for. */
  readonly units: number;
  /** The day on which AWS published the price list, or on which a copy of the page was read. */
  readonly asOf: string;
  readonly source: string;
}

/** The region of the prices. */
export const region = 'eu-west-1';

/** Above it, API Gateway's next tier begins: https://aws.amazon.com/api-gateway/pricing/ */
export const maxRequests = 333_000_000;

const million = 1_000_000;
const priceList = (service: string) =>
  `https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/${service}/current/${region}/index.json`;
const apiGateway = { asOf: '2026-09-21', source: priceList('AmazonApiGateway') };
const lambda = { asOf: '2026-10-01', source: priceList('AWSLambda') };
const dynamodb = { asOf: '2026-09-11', source: priceList('AmazonDynamoDB') };
const cloudwatch = { asOf: '2026-09-22', source: priceList('AmazonCloudWatch') };
const dataTransfer = { asOf: '2026-09-16', source: priceList('AWSDataTransfer') };
const pricingPage = (service: string, asOf: string) => ({
  asOf,
  source: `https://aws.amazon.com/${service}/pricing/`,
});
const waf = pricingPage('waf', '2026-09-14');

export const prices = {
  restApiRequest: { usd: 3.5, per: 'million REST API requests', units: million, ...apiGateway },
  transferOut: { usd: 0.09, per: 'GB of responses to the internet', units: 1, ...dataTransfer },
  lambdaRequest: { usd: 0.2, per: 'million Lambda requests', units: million, ...lambda },
  lambdaArm: { usd: 13.3334, per: 'million Lambda GB-seconds, arm64', units: million, ...lambda },
  tableRead: { usd: 0.1415, per: 'million DynamoDB read units', units: million, ...dynamodb },
  tableWrite: { usd: 0.705, per: 'million DynamoDB write units', units: million, ...dynamodb },
  tableStorage: { usd: 0.283, per: 'GB of DynamoDB storage', units: 1, ...dynamodb },
  tableRecovery: { usd: 0.22, per: 'GB of point-in-time recovery', units: 1, ...dynamodb },
  logIngestion: { usd: 0.57, per: 'GB of log lines written', units: 1, ...cloudwatch },
  logStorage: { usd: 0.03, per: 'GB of log lines kept', units: 1, ...cloudwatch },
  customMetric: { usd: 0.3, per: 'custom metric', units: 1, ...cloudwatch },
  alarmMetric: { usd: 0.1, per: 'metric of an alarm', units: 1, ...cloudwatch },
  dashboard: { usd: 3, per: 'dashboard', units: 1, ...pricingPage('cloudwatch', '2026-11-21') },
  trace: {
    usd: 5,
    per: 'million X-Ray traces',
    units: million,
    ...pricingPage('xray', '2026-11-21'),
  },
  webAcl: { usd: 5, per: 'web ACL', units: 1, ...waf },
  webAclRule: { usd: 1, per: 'web ACL rule', units: 1, ...waf },
  webAclRequest: { usd: 0.6, per: 'million web ACL requests', units: million, ...waf },
} satisfies Record<string, Price>;
