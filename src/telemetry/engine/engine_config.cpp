#include "telemetry/engine/engine_config.h"

#include "base/text.h"

namespace hone::telemetry {

namespace {

// The system tables of this version that show data of other users. The library lets every user read the database
// `system`, whatever is granted, so policies close them; `one` stays, which every SELECT without FROM reads.
constexpr std::string_view system_tables = R"(
aggregate_function_combinators asynchronous_inserts asynchronous_loader azure_queue_metadata_cache
azure_queue_settings background_schedule_pool backups build_options certificates clusters codecs collations columns
completions constraints contributors current_roles dashboards data_skipping_index_types data_skipping_indices
data_type_families database_engines database_replicas databases detached_parts detached_tables dictionaries
dictionary_layouts dictionary_sources dimensional_metrics disk_types disks distributed_ddl_queue distribution_queue
dns_cache documentation dropped_tables dropped_tables_parts enabled_roles errors events fail_points filesystem_cache
filesystem_cache_settings formats functions grants graphite_retentions histogram_metrics hypothetical_indexes
iceberg_files iceberg_history jemalloc_bins jemalloc_profile_text jemalloc_stats kafka_consumers keywords licenses
macros masking_policies merge_tree_settings merges metrics models moves mutations named_collections numbers numbers_mt
part_moves_between_shards parts parts_columns primes privileges processes projection_parts projection_parts_columns
projections query_cache query_condition_cache query_log quota_limits quota_usage quotas quotas_usage remote_data_paths
replicas replicated_fetches replicated_merge_tree_settings replication_queue resources rocksdb role_grants roles
row_policies s3_queue_settings s3queue_metadata_cache scheduler schema_inference_cache server_settings settings
settings_changes settings_profile_elements settings_profiles stack_trace storage_policies symbols table_engines
table_functions tables time_zones tokenizers unicode user_defined_functions user_directories user_processes users
view_refreshes warnings workloads zeros zeros_mt
)";

std::string escape_xml(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '&':
            out += "&amp;";
            break;
        default:
            out += letter;
        }
    }
    return out;
}

void add_policy(std::string& policies, std::string_view table, std::string_view filter) {
    const std::string name(table);
    policies += "<" + name + "><filter>" + std::string(filter) + "</filter></" + name + ">";
}

std::string policies() {
    std::string ours, systems;
    for (const std::string_view table : policy_tables) add_policy(ours, table, row_policy);
    for (const std::string_view line : split(system_tables, '\n'))
        for (const std::string_view name : split(line, ' '))
            if (!name.empty()) add_policy(systems, name, "currentDatabase() = 'hone'");
    return "<databases><hone>" + ours + "</hone><system>" + systems + "</system></databases>";
}

} // namespace

// Without its role the user may read the views of projects' databases and nothing else; not even the tables behind
// them.
std::string users_config(const EngineOptions& options) {
    return R"(<clickhouse>
<profiles><default>
  <max_threads>2</max_threads><log_queries>0</log_queries><async_insert>0</async_insert>
  <use_query_condition_cache>0</use_query_condition_cache>
</default></profiles>
<roles><owner><grants>
    <query>GRANT SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, SHOW, SYSTEM MERGES, SYSTEM SYNC REPLICA ON hone.*</query>
    <query>GRANT SELECT, INSERT, CREATE, DROP, SHOW ON hone_project_*.*</query>
    <query>GRANT TABLE ENGINE ON MergeTree</query>
    <query>GRANT TABLE ENGINE ON ReplacingMergeTree</query>
    <query>GRANT TABLE ENGINE ON AggregatingMergeTree</query>
    <query>GRANT SELECT ON system.*</query>
    <query>GRANT CREATE DATABASE, KILL QUERY, BACKUP ON *.*</query>)" +
           std::string(options.reads_files ? "<query>GRANT READ, WRITE ON FILE</query>"
                                             "<query>GRANT CREATE TEMPORARY TABLE ON *.*</query>"
                                           : "") +
           R"(
</grants></owner></roles>
<users><default>
  <password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
  <grants><query>GRANT owner</query><query>GRANT SELECT ON hone_project_*.*</query></grants>
  )" + (options.reads_files ? "" : policies()) +
           R"(
</default></users>
<quotas><default></default></quotas>
</clickhouse>
)";
}

// Small pools and caches: the engine shares the machine with the server and the sandboxes.
std::string server_config(const EngineOptions& options) {
    const std::string directory = escape_xml(options.directory);
    return "<clickhouse>\n<logger><level>none</level><console>0</console></logger>\n<users_config>" + directory +
           "/users.xml</users_config>\n<path>" + directory + "/data/</path>\n<tmp_path>" + directory +
           "/data/tmp/</tmp_path>\n<max_server_memory_usage>" + std::to_string(options.memory_bytes) +
           "</max_server_memory_usage>\n"
           "<mark_cache_size>67108864</mark_cache_size>\n<uncompressed_cache_size>0</uncompressed_cache_size>\n"
           "<index_mark_cache_size>33554432</index_mark_cache_size>\n<mmap_cache_size>100</mmap_cache_size>\n"
           "<background_pool_size>2</background_pool_size>\n<background_move_pool_size>1</background_move_pool_size>\n"
           "<background_fetches_pool_size>1</background_fetches_pool_size>\n<background_common_pool_size>2</"
           "background_common_pool_size>\n"
           "<background_schedule_pool_size>4</background_schedule_pool_size>\n"
           "<background_message_broker_schedule_pool_size>1</background_message_broker_schedule_pool_size>\n"
           "<background_distributed_schedule_pool_size>1</background_distributed_schedule_pool_size>\n"
           "<asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>\n"
           "<asynchronous_heavy_metrics_update_period_s>3600</asynchronous_heavy_metrics_update_period_s>\n"
           // Columns without a codec of their own: LZ4 in parts that are soon merged, ZSTD in those that stay.
           "<compression><case><min_part_size>33554432</min_part_size><min_part_size_ratio>0</min_part_size_ratio>"
           "<method>zstd</method><level>3</level></case></compression>\n"
           // Inserts and merges that have no room are refused before they write: a write that fails ends this process.
           "<storage_configuration><disks><default><keep_free_space_bytes>4194304</keep_free_space_bytes></default>"
           "</disks></storage_configuration>\n"
           "<backups><allowed_path>" +
           directory +
           "/backups/</allowed_path></backups>\n"
           "<merge_tree><number_of_free_entries_in_pool_to_execute_mutation>1</"
           "number_of_free_entries_in_pool_to_execute_mutation>"
           "<number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</"
           "number_of_free_entries_in_pool_to_lower_max_size_of_merge>"
           "<number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</"
           "number_of_free_entries_in_pool_to_execute_optimize_entire_partition>"
           "</merge_tree>\n</clickhouse>\n";
}

} // namespace hone::telemetry
