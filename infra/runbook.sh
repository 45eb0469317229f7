# shellcheck shell=bash
# The commands of infra/runbook.md, for bash and zsh: . infra/runbook.sh prod
# They use the account that AWS_PROFILE names. A command that changes something prints each call before it
# makes it.
export AWS_REGION=${AWS_REGION:-eu-west-1} AWS_PAGER=
stage=${1:?Usage: . infra/runbook.sh prod}
stack=AnimalStore-$stage
service=animal-store-$stage
operations=(listPets createPet getPet)

# === The stack ===

# The value of an output of the stack.
output() {
  : "${1:?Usage: output <OUTPUT>}"
  aws cloudformation describe-stacks --stack-name "$stack" --query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue" --output text
}

# Prints the physical names of the stack's resources of a type. The second argument limits them to logical ids
# that contain it.
names() {
  : "${1:?Usage: names <TYPE> [<PART OF THE LOGICAL ID>]}"
  aws cloudformation list-stack-resources --stack-name "$stack" --query "StackResourceSummaries[?ResourceType=='AWS::$1' && contains(LogicalResourceId,'${2:-}')].PhysicalResourceId" --output text
}

# The value of a property in the deployed template, or None.
declared() {
  : "${2:?Usage: declared <PHYSICAL NAME OF A RESOURCE> <PROPERTY>}"
  local logical_id
  logical_id=$(aws cloudformation list-stack-resources --stack-name "$stack" --query "StackResourceSummaries[?PhysicalResourceId=='$1'].LogicalResourceId" --output text) || return
  aws cloudformation get-template --stack-name "$stack" --query "TemplateBody.Resources.\"$logical_id\".Properties.$2" --output text
}

# The functions of the API: only they have an alias. Not by mapfile, which zsh and macOS's bash lack.
# shellcheck disable=SC2207
lambdas=($(names Lambda::Alias | tr '\t' '\n' | cut -d: -f7))
api=$(names ApiGateway::RestApi)
pets=$(output PetsTableName)
keys=$(output KeysTableName)

# The state of the stack, the time of its last update, and whether termination protection is on.
stack_status() {
  aws cloudformation describe-stacks --stack-name "$stack" --query 'Stacks[0].[StackStatus,LastUpdatedTime,EnableTerminationProtection]' --output text
}

# What failed in the last deployments of the stack, and why.
stack_failures() {
  aws cloudformation describe-stack-events --stack-name "$stack" --max-items 200 --query "StackEvents[?ends_with(ResourceStatus,'FAILED')].[Timestamp,LogicalResourceId,ResourceStatusReason]" --output text
}

# When deployments of the stack began and ended.
stack_history() {
  aws cloudformation describe-stack-events --stack-name "$stack" --max-items 200 --query "StackEvents[?ResourceType=='AWS::CloudFormation::Stack'].[Timestamp,ResourceStatus]" --output text
}

# The tables of the stage, including those that are not in its stack.
stage_tables() {
  aws dynamodb list-tables --query "TableNames[?starts_with(@,'$stack-')]" --output text
}

# The source line of a place in a bundle, such as get-pet.cjs:1:4711. The deployed commit must be checked out.
source_of() {
  : "${1:?Usage: source_of <BUNDLE>:<LINE>:<COLUMN>}"
  if ! [[ $1 =~ ^[a-z-]+\.cjs:[0-9]+:[0-9]+$ ]]; then
    echo 'Give a place in a bundle, such as get-pet.cjs:1:4711.' >&2
    return 1
  fi
  local bundle line column
  IFS=: read -r bundle line column <<<"$1"
  # The place is passed as arguments, so that Node.js never runs it as code.
  npm run synth &&
    npx node -p "const [file, line, column] = process.argv.slice(1); new (require('node:module').SourceMap)(JSON.parse(require('node:fs').readFileSync(file, 'utf8'))).findOrigin(Number(line), Number(column))" ".build/maps/$bundle.map" "$line" "$column"
}

# === Alarms, metrics and logs ===

# Sets how far back logs and metrics are read.
look_back() {
  : "${2:?Usage: look_back <NUMBER> minutes, hours or days}"
  local seconds
  case $2 in
    minute*) seconds=60 ;;
    hour*) seconds=3600 ;;
    day*) seconds=86400 ;;
    *)
      echo 'The units are minutes, hours and days.' >&2
      return 1
      ;;
  esac
  since=$(($(date +%s) - $1 * seconds))
}
look_back 1 hour

title() {
  printf '\n# %s\n' "$*"
}

# The state of every alarm, and when it last changed.
alarms() {
  aws cloudwatch describe-alarms --alarm-name-prefix "$service-" --query 'MetricAlarms[].[StateValue,AlarmName,StateUpdatedTimestamp]' --output text
}

# The values of a metric, one for every 5 minutes.
metric() {
  : "${4:?Usage: metric <Sum, Maximum or p99> <NAMESPACE> <METRIC> <DIMENSIONS>}"
  local kind=--statistics
  [ "$1" != p99 ] || kind=--extended-statistics
  title "${@:3}"
  aws cloudwatch get-metric-statistics "$kind" "$1" --namespace "$2" --metric-name "$3" --dimensions "${@:4}" --period 300 --start-time "$since" --end-time "$(date +%s)" --query 'sort_by(Datapoints,&Timestamp)[].[Timestamp, Sum || Maximum || ExtendedStatistics.p99]' --output text
}

# A metric of Lambda, for each function.
function_metric() {
  : "${2:?Usage: function_metric <STATISTIC> <METRIC>}"
  local name
  for name in "${lambdas[@]}"; do metric "$1" AWS/Lambda "$2" Name=FunctionName,Value="$name"; done
}

# A metric of the service, for each operation.
operation_metric() {
  : "${2:?Usage: operation_metric <STATISTIC> <METRIC>}"
  local name
  for name in "${operations[@]}"; do metric "$1" AnimalStore "$2" Name=service,Value="$service" Name=operation,Value="$name"; done
}

# The result of a query of CloudWatch Logs Insights.
insights() {
  : "${2:?Usage: insights <QUERY> <LOG GROUPS>}"
  local query_id
  query_id=$(aws logs start-query --start-time "$since" --end-time "$(date +%s)" --query-string "$1" --log-group-names "${@:2}" --query queryId --output text) || return
  until aws logs get-query-results --query-id "$query_id" --query status --output text | grep -qE 'Complete|Failed|Cancelled|Timeout'; do sleep 1; done
  aws logs get-query-results --query-id "$query_id" --query "results[*].[join('  ', [?field!='@ptr'].value)]" --output text
}

# The result of a query over the logs of the API's functions.
function_logs() {
  : "${1:?Usage: function_logs <QUERY>}"
  local name groups
  # shellcheck disable=SC2207
  groups=($(for name in "${lambdas[@]}"; do aws lambda get-function-configuration --function-name "$name" --query LoggingConfig.LogGroup --output text; done))
  insights "$1" "${groups[@]}"
}

# The result of a query over the access log, which has every request.
access_log() {
  insights "${1:?Usage: access_log <QUERY>}" "$(names Logs::LogGroup AccessLog)"
}

# The requests with a 5xx, by response in the access log and by cause in the functions' logs.
failed_requests() {
  title 'Requests by status, type of error, method and path'
  access_log 'filter status like /^5/ | stats count(*) as requests by status, errorType, httpMethod, resourcePath | sort requests desc'
  title 'Requests by operation, code, cause and its place'
  function_logs 'filter level = "ERROR" | stats count(*) as requests by operation, code, cause.name, cause.thrownAt | sort requests desc'
}

# Requests, errors and crashes of each version.
requests_by_version() {
  title 'Requests and p99 by operation, version and status'
  function_logs 'stats count(*) as requests, pct(durationMs, 99) as p99 by operation, version, status'
  title 'Requests by operation, version, code, cause and its place'
  function_logs 'filter level = "ERROR" | stats count(*) as requests by operation, version, code, cause.name, cause.thrownAt'
  title 'Crashes by log group and version'
  function_logs 'filter @message like /Task timed out|Runtime exited|errorType/ | parse @logStream "[*]" as version | stats count(*) as crashes, latest(@message) as example by @log, version'
}

# How long API Gateway, the functions and DynamoDB take.
latencies() {
  local name
  for name in Latency IntegrationLatency; do metric p99 AWS/ApiGateway "$name" Name=ApiName,Value="$service"; done
  title 'Requests, p50 and p99 by operation and cold start'
  function_logs 'stats count(*) as requests, pct(durationMs, 50) as p50, pct(durationMs, 99) as p99 by operation, coldStart | sort p99 desc'
  operation_metric p99 DynamoDBLatency
}

# How often each function crashed, the last crashes, and the memory and time that each function needed.
crashes() {
  function_metric Sum Errors
  title 'The last crashes; a log stream has the version in brackets'
  function_logs 'filter @message like /Task timed out|Runtime exited|errorType/ | fields @timestamp, @logStream, @message | sort @timestamp desc | limit 20'
  title 'Used and available memory in MB, and the longest invocation in ms'
  function_logs 'filter @type = "REPORT" | stats max(@maxMemoryUsed / 1000000) as usedMB, max(@memorySize / 1000000) as givenMB, max(@duration) as longestMs by @log'
}

# Throttles and concurrency of each function, and the limit of the account.
concurrency() {
  function_metric Sum Throttles
  function_metric Maximum ConcurrentExecutions
  title 'The account'
  aws lambda get-account-settings --query AccountLimit
}

# Throttles of a table, or of an index of it, by reason.
throttles() {
  : "${1:?Usage: throttles <TABLE> [<INDEX>]}"
  local name
  for name in ReadThrottleEvents WriteThrottleEvents {Read,Write}{MaxOnDemand,KeyRange}ThroughputThrottleEvents; do
    metric Sum AWS/DynamoDB "$name" Name=TableName,Value="$1" ${2:+Name=GlobalSecondaryIndexName,Value="$2"}
  done
  [ -n "${2:-}" ] && return
  for name in {Read,Write}AccountLimitThrottleEvents; do metric Sum AWS/DynamoDB "$name" Name=TableName,Value="$1"; done
}

# The API keys, and the addresses, that send the most requests.
busiest_clients() {
  title 'Requests by operation and API key'
  function_logs 'stats count(*) as requests by operation, keyId | sort requests desc | limit 10'
  title 'Requests by address'
  access_log 'stats count(*) as requests by sourceIp | sort requests desc | limit 10'
}

# The requests without a valid API key: where they come from, and since when.
unauthorized_requests() {
  title 'Requests by address, method and path'
  access_log 'filter status like /401/ | stats count(*) as requests by sourceIp, httpMethod, resourcePath | sort requests desc | limit 20'
  operation_metric Sum AuthFailures
}

# The requests that the firewall blocks, and what else their addresses get.
blocked_requests() {
  title 'Blocked requests by address and rule'
  # Of AWS's rule groups, terminatingRuleId is the group, and ruleId the rule in it.
  insights 'filter action = "BLOCK" | parse @message /"terminatingRule":\{"ruleId":"(?<ruleId>[^"]+)/ | stats count(*) as requests by httpRequest.clientIp, terminatingRuleId, ruleId | sort requests desc | limit 20' "$(names Logs::LogGroup FirewallLog)"
  title 'All requests by address, status and the status of the firewall'
  access_log 'stats count(*) as requests by sourceIp, status, firewallStatus | sort requests desc | limit 20'
}

# What the probe got instead of a 200.
probe_failures() {
  insights 'filter ProbeSuccess = 0 | fields @timestamp, failure, ProbeLatency | sort @timestamp desc | limit 20' "$(names Logs::LogGroup probe)"
}

# What the checks before traffic found.
failed_checks() {
  insights 'filter ispresent(deploymentId) | fields @timestamp, deploymentId, failures.0, failures.1 | sort @timestamp desc | limit 5' "$(names Logs::LogGroup beforetraffic)"
}

# The requests that read corrupt items, with the ids of these items.
corrupt_items() {
  function_logs 'filter ispresent(corruptItems.0) | fields @timestamp, operation, status, @message | sort @timestamp desc | limit 20'
}

# What an API key was used for.
key_requests() {
  : "${1:?Usage: key_requests <KEY_ID>}"
  title 'Requests and the last one, by operation, status and day'
  function_logs "filter keyId = \"$1\" | stats count(*) as requests, latest(@timestamp) as lastRequest by operation, status, bin(1d)"
  title 'The last requests, with the id that request_of takes'
  function_logs "filter keyId = \"$1\" | fields @timestamp, operation, extendedRequestId | sort @timestamp desc | limit 20"
}

# The lines of a request, by the id that its client got as x-amz-apigw-id.
request_of() {
  : "${1:?Usage: request_of <EXTENDED REQUEST ID>}"
  title 'The access log'
  access_log "filter extendedRequestId = \"$1\" | fields @timestamp, sourceIp, httpMethod, resourcePath, status, errorType, firewallStatus"
  title 'The log of the function, if the request reached one'
  function_logs "filter extendedRequestId = \"$1\" | fields @timestamp, operation, status, code, keyId, cause.name, cause.thrownAt"
}

# X-Ray's traces of the last 6 hours whose URLs contain a text.
traces_with() {
  : "${1:?Usage: traces_with <TEXT>}"
  local now
  now=$(date +%s)
  aws xray get-trace-summaries --start-time "$((now - 21600))" --end-time "$now" --filter-expression "http.url CONTAINS \"$1\"" --query 'TraceSummaries[].[Id,Http.HttpStatus,Http.ClientIp]' --output text
}

# === Deployments ===

# The newest versions of each function, and the one in service.
versions() {
  local name
  for name in "${lambdas[@]}"; do
    title "$name"
    aws lambda list-versions-by-function --function-name "$name" --query 'Versions[-4:].[Version,LastModified]' --output text
    aws lambda get-alias --function-name "$name" --name live --query '[FunctionVersion,RoutingConfig]'
  done
}

# Ids of the deployments of one of CodeDeploy's deployment groups, the newest first.
deployments() {
  : "${1:?Usage: deployments <DEPLOYMENT GROUP> [<OPTIONS>]}"
  aws deploy list-deployments --application-name "$(names CodeDeploy::Application)" --deployment-group-name "$1" "${@:2}" --no-paginate --query 'deployments[]' --output text
}

# The last 3 deployments of each function, and why they failed.
last_deployments() {
  local group deployment
  for group in $(names CodeDeploy::DeploymentGroup); do
    for deployment in $(deployments "$group" | cut -f1-3); do
      aws deploy get-deployment --deployment-id "$deployment" --query 'deploymentInfo.[deploymentGroupName,creator,status,errorInformation.code,errorInformation.message]' --output text
    done
  done
}

# Calls AWS to change something. Prints the call, not the response.
change() {
  echo "aws $*" >&2
  aws "$@" >/dev/null
}

# Stops running canaries. CodeDeploy then sends all requests to the old versions again.
stop_canary() {
  local group deployment
  for group in $(names CodeDeploy::DeploymentGroup); do
    for deployment in $(deployments "$group" --include-only-statuses Created Queued InProgress); do
      change deploy stop-deployment --deployment-id "$deployment" --auto-rollback-enabled
    done
  done
}

# Cancels a running update of the stack, which rolls the stack back.
cancel_update() {
  change cloudformation cancel-update-stack --stack-name "$stack"
}

# Continues a failed rollback of the stack.
continue_rollback() {
  change cloudformation continue-update-rollback --stack-name "$stack"
}

# Deploys the working copy without a canary.
deploy_without_canary() {
  echo "Deploys $(git log -1 --format='%h "%s"') and $(git status --short | wc -l) changed files to $stack." >&2
  npm run deploy -- "$stack" --context canary=off "$@"
}

# What deploy_without_canary would change.
stack_diff() {
  npm run diff -- "$stack" --context canary=off
}

# What was changed outside the stack.
drift() {
  npx cdk drift "$stack"
}

# Deploys the working copy, and undoes what was changed outside the stack.
revert_drift() {
  deploy_without_canary --revert-drift
}

# Deletes a stack that was never in service.
delete_failed_stack() {
  local state
  state=$(aws cloudformation describe-stacks --stack-name "$stack" --query 'Stacks[0].StackStatus' --output text) || return
  case $state in
    ROLLBACK_COMPLETE | ROLLBACK_FAILED) ;;
    *)
      echo "$stack is $state, not ROLLBACK_COMPLETE, and is not deleted." >&2
      return 1
      ;;
  esac
  change cloudformation update-termination-protection --no-enable-termination-protection --stack-name "$stack" &&
    change cloudformation delete-stack --stack-name "$stack" &&
    aws cloudformation wait stack-delete-complete --stack-name "$stack"
}

# Runs the keys command for this stage.
api_keys() {
  : "${1:?Usage: api_keys <issue, list, rotate, revoke or usage> [<OPTIONS>]}"
  npm run keys -- "$@" --stage "$stage"
}

# A new API key that is valid for an hour, without the warning that the keys command prints below it.
test_key() {
  npm_config_loglevel=silent api_keys issue --owner on-call --expires-in 1h | head -n 1
}

# Runs the smoke test with a new API key.
smoke_test() {
  BASE_URL=$(output BaseAddress) API_KEY=$(test_key) npm run smoke
}

# The response to a GET with a new API key.
request() {
  : "${1:?Usage: request <PATH>}"
  curl -i "$(output BaseAddress)$1" -H "Authorization: Bearer $(test_key)"
}

# === Limits ===

# Sets the throttle of an operation: its average rate in requests a second, and its burst.
throttle() {
  : "${3:?Usage: throttle <OPERATION> <RATE> <BURST>}"
  local method
  case $1 in
    listPets) method=/~1pets/GET ;;
    createPet) method=/~1pets/POST ;;
    getPet) method='/~1pets~1{petId}/GET' ;;
    *)
      echo "The operations are ${operations[*]}." >&2
      return 1
      ;;
  esac
  # As JSON, because the braces of a path have a meaning in the shorthand of the AWS CLI.
  change apigateway update-stage --rest-api-id "$api" --stage-name v1 --patch-operations "[{\"op\":\"replace\",\"path\":\"$method/throttling/rateLimit\",\"value\":\"$2\"},{\"op\":\"replace\",\"path\":\"$method/throttling/burstLimit\",\"value\":\"$3\"}]"
}

# Sets how many read and write units a second a table, without its index, may take.
limit_table() {
  : "${3:?Usage: limit_table <TABLE> <READS> <WRITES>}"
  change dynamodb update-table --table-name "$1" --on-demand-throughput "MaxReadRequestUnits=$2,MaxWriteRequestUnits=$3"
}

# Sets how many read and write units a second the index byStatus may take.
limit_index() {
  : "${2:?Usage: limit_index <READS> <WRITES>}"
  change dynamodb update-table --table-name "$pets" --global-secondary-index-updates "[{\"Update\":{\"IndexName\":\"byStatus\",\"OnDemandThroughput\":{\"MaxReadRequestUnits\":$1,\"MaxWriteRequestUnits\":$2}}}]"
}

# Warms the index byStatus for this many read and write units per second. AWS bills this once, and it can't
# be undone.
warm_index() {
  : "${2:?Usage: warm_index <READS> <WRITES>}"
  change dynamodb update-table --table-name "$pets" --global-secondary-index-updates "[{\"Update\":{\"IndexName\":\"byStatus\",\"WarmThroughput\":{\"ReadUnitsPerSecond\":$1,\"WriteUnitsPerSecond\":$2}}}]"
}

# Sets the reserved concurrency of a function, which is also its limit.
reserve_concurrency() {
  : "${2:?Usage: reserve_concurrency <FUNCTION> <NUMBER>}"
  change lambda put-function-concurrency --function-name "$1" --reserved-concurrent-executions "$2"
}

# The quotas of a service of AWS, with their codes.
quotas() {
  : "${1:?Usage: quotas <SERVICE>}"
  aws service-quotas list-service-quotas --service-code "$1" --query 'Quotas[].[QuotaCode,QuotaName,Value]' --output text
}

# Asks AWS for a higher quota.
request_quota() {
  : "${3:?Usage: request_quota <SERVICE> <QUOTA_CODE> <NUMBER>}"
  change service-quotas request-service-quota-increase --service-code "$1" --quota-code "$2" --desired-value "$3"
}

# Stops all requests: clients get 503.
close_service() {
  local name
  for name in "${lambdas[@]}"; do reserve_concurrency "$name" 0; done
}

# Lets requests through again, with the concurrency that the stage declares.
open_service() {
  local name reserved
  for name in "${lambdas[@]}"; do
    reserved=$(declared "$name" ReservedConcurrentExecutions) || return
    case $reserved in
      None) change lambda delete-function-concurrency --function-name "$name" ;;
      *) reserve_concurrency "$name" "$reserved" ;;
    esac
  done
}

# === Rows and tables ===

# The primary key of a pet or an API key, in DynamoDB's JSON.
key_of() {
  : "${2:?Usage: key_of <TABLE> <ID>}"
  case $1 in
    "$keys"*) echo "{\"keyId\":{\"S\":\"$2\"}}" ;;
    *) echo "{\"id\":{\"N\":\"$2\"}}" ;;
  esac
}

# The directory for rows that you edit. Git ignores it.
mkdir -p .local

# A row as it is stored.
show_row() {
  : "${2:?Usage: show_row <TABLE> <ID>}"
  aws dynamodb get-item --table-name "$1" --key "$(key_of "$1" "$2")" --query Item --output json
}

# Stores the row of a file, such as one that show_row wrote.
store_row() {
  : "${2:?Usage: store_row <TABLE> <FILE>}"
  change dynamodb put-item --table-name "$1" --item "file://$2"
}

# Copies a row to another table, where it replaces the row with the same id.
copy_row() {
  : "${3:?Usage: copy_row <FROM TABLE> <TO TABLE> <ID>}"
  show_row "$1" "$3" >.local/row.json && store_row "$2" .local/row.json
}

# Whether a table exists, how far back it can be restored, and who changed tables.
restore_points() {
  : "${1:?Usage: restore_points <TABLE>}"
  title 'State, rows and deletion protection'
  aws dynamodb describe-table --table-name "$1" --query 'Table.[TableStatus,ItemCount,DeletionProtectionEnabled]' --output text
  title 'Earliest and latest time'
  aws dynamodb describe-continuous-backups --table-name "$1" --query 'ContinuousBackupsDescription.PointInTimeRecoveryDescription.[EarliestRestorableDateTime,LatestRestorableDateTime]' --output text
  title 'Changes of tables'
  aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventSource,AttributeValue=dynamodb.amazonaws.com --max-items 50 --query 'Events[].[EventTime,EventName,Username]' --output text
}

wait_for_table() {
  until aws dynamodb wait table-exists --table-name "$1"; do
    echo "Waiting for $1; Ctrl-C ends it." >&2
    sleep 10
  done
}

# Restores a table as of a time into a new table, <TABLE>-restored.
restore_copy() {
  : "${2:?Usage: restore_copy <TABLE> <TIME>, such as 2030-01-31T03:00:00Z}"
  change dynamodb restore-table-to-point-in-time --source-table-name "$1" --target-table-name "$1-restored" --restore-date-time "$2" &&
    wait_for_table "$1-restored"
}

# Replaces a table with its copy, <TABLE>-restored.
replace_by_copy() {
  : "${1:?Usage: replace_by_copy <TABLE>}"
  local backup
  echo "aws dynamodb create-backup --table-name $1-restored --backup-name restored" >&2
  backup=$(aws dynamodb create-backup --table-name "$1-restored" --backup-name restored --query BackupDetails.BackupArn --output text) || return
  echo "The backup of the copy is $backup." >&2
  until aws dynamodb describe-backup --backup-arn "$backup" --query BackupDescription.BackupDetails.BackupStatus --output text | grep -q AVAILABLE; do sleep 10; done
  delete_table "$1" && restore_backup "$1" "$backup"
}

# Restores a deleted table as it was when it was deleted.
restore_deleted() {
  : "${1:?Usage: restore_deleted <TABLE>}"
  local backup
  backup=$(aws dynamodb list-backups --table-name "$1" --backup-type SYSTEM --no-paginate --query 'sort_by(BackupSummaries,&BackupCreationDateTime)[-1].BackupArn' --output text) || return
  if [ "$backup" = None ]; then
    echo "DynamoDB has no backup of $1." >&2
    return 1
  fi
  restore_backup "$1" "$backup"
}

# Restores a table from a backup, and sets what DynamoDB doesn't restore: point-in-time recovery, tags and
# deletion protection. This can take hours.
restore_backup() {
  : "${2:?Usage: restore_backup <TABLE> <BACKUP_ARN>}"
  local days protected
  days=$(declared "$1" PointInTimeRecoverySpecification.RecoveryPeriodInDays) &&
    protected=$(declared "$1" DeletionProtectionEnabled) &&
    change dynamodb restore-table-from-backup --backup-arn "$2" --target-table-name "$1" &&
    wait_for_table "$1" &&
    change dynamodb update-continuous-backups --table-name "$1" --point-in-time-recovery-specification "PointInTimeRecoveryEnabled=true,RecoveryPeriodInDays=$days" &&
    change dynamodb tag-resource --resource-arn "$(aws dynamodb describe-table --table-name "$1" --query Table.TableArn --output text)" --tags Key=service,Value=animal-store Key=stage,Value="$stage" || return
  [ "$protected" = False ] || change dynamodb update-table --table-name "$1" --deletion-protection-enabled
}

# Deletes a table. DynamoDB keeps a backup of it for 35 days.
delete_table() {
  : "${1:?Usage: delete_table <TABLE>}"
  change dynamodb update-table --table-name "$1" --no-deletion-protection-enabled &&
    wait_for_table "$1" &&
    change dynamodb delete-table --table-name "$1" &&
    aws dynamodb wait table-not-exists --table-name "$1"
}

# Deletes a table that has no rows.
delete_empty_table() {
  : "${1:?Usage: delete_empty_table <TABLE>}"
  local rows
  rows=$(aws dynamodb scan --table-name "$1" --select COUNT --no-paginate --query Count --output text) || return
  if [ "$rows" != 0 ]; then
    echo "$1 has rows, and is not deleted." >&2
    return 1
  fi
  delete_table "$1"
}

# Deletes <TABLE>-restored and its backups.
delete_copy() {
  : "${1:?Usage: delete_copy <TABLE>}"
  local backup
  delete_table "$1-restored" || return
  for backup in $(aws dynamodb list-backups --table-name "$1-restored" --backup-type USER --query 'BackupSummaries[].BackupArn' --output text); do
    change dynamodb delete-backup --backup-arn "$backup"
  done
}
