# Adds the layer `witness` to the function FUNCTION_NAME: one policy for its role, one layer, two variables.
# Read it, then run it: dlo witness add FUNCTION_NAME | sh
set -eu
function='FUNCTION_NAME'

output() {
    aws cloudformation describe-stacks --stack-name 'STACK_NAME' \
        --query "Stacks[0].Outputs[?OutputKey=='$1'].OutputValue" --output text
}
configuration() {
    aws lambda get-function-configuration --function-name "$function" --query "$1" --output "$2"
}

if [ "$(configuration PackageType text)" = Image ]; then
    echo "$function is a container image: copy dlo-witness into it, and start it with: dlo-witness run -- <command>" >&2
    exit 1
fi
wrapper=$(configuration Environment.Variables.AWS_LAMBDA_EXEC_WRAPPER text)
case "$wrapper" in
    None | /opt/extensions/dlo-witness) ;;
    *)
        echo "$function already has a wrapper: $wrapper. A function can have only one." >&2
        exit 1
        ;;
esac

# 1. The role may send to the receipts queue, and to no other.
role=$(configuration Role text)
aws iam attach-role-policy --role-name "${role##*/}" --policy-arn "$(output Policy)"

# 2. The layer, after those that the function has. An older version of it is replaced.
case "$(configuration 'Architectures[0]' text)" in
    arm64) layer=$(output LayerArm) ;;
    *) layer=$(output LayerX86) ;;
esac
layers=
for other in $(configuration 'Layers[].Arn' text); do
    case "$other" in
        None | *:layer:dlo-witness-*) ;;
        *) layers="$layers $other" ;;
    esac
done

# 3. Two variables, beside those that the function has.
reports=$(output Reports)
added="{\"AWS_LAMBDA_EXEC_WRAPPER\":\"/opt/extensions/dlo-witness\",\"DLO_REPORTS\":\"$reports\"}"
variables=$(configuration "{Variables: merge(Environment.Variables || \`{}\`, \`$added\`)}" json)

# The list of layers is split at its spaces.
# shellcheck disable=SC2086
aws lambda update-function-configuration --function-name "$function" --layers $layers "$layer" --environment "$variables"
aws lambda wait function-updated-v2 --function-name "$function"
echo "If an event source mapping names an alias of $function, publish a version, and move the alias to it." >&2
